#pragma once
// The door of launcher/spec: an Azure ML CLI v2 command-job file (YAML), with --set overrides,
// becomes a JobSpec. Every error begins with FILE:LINE:COLUMN, or with "--set k.l=v" when an
// override is at fault. It submits nothing and captures nothing: the code directory is only found
// and checked.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/job_spec.h"

namespace lockstep::spec {

struct JobFile {
  JobSpec spec;                         // snapshot, submitter and run_as are left empty
  std::optional<std::string> code_dir;  // absolute, or relative to the working directory; it exists
};

// Reads the file; `overrides` are "k.l=v", applied in order before anything is checked.
Result<JobFile> load_job(const std::string& path, const std::vector<std::string>& overrides = {});

// The same without the file system, for text from anywhere: `code` is returned as written and not
// looked for.
Result<JobFile> parse_job(const std::string& name, std::string_view text,
                          const std::vector<std::string>& overrides = {});

}  // namespace lockstep::spec
