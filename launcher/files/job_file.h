#pragma once
// The entry point of launcher/files: it turns an Azure ML CLI v2 job file (YAML) of a command or a
// pipeline, with --set overrides, into a JobSpec. An error lists the problems, one per line
// (faults.h, at most 20). A line begins with FILE:LINE:COLUMN, with "--set k.l=v" for an override,
// or with FILE:LINE for a problem in a requirements file. It submits and captures nothing: it only
// checks that the code directory, the image's build folder and local data exist.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/job/spec.h"
#include "launcher/files/data/input_reader.h"
#include "launcher/files/environment/environment_reader.h"
#include "launcher/files/pipeline/component_reader.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/named_text.h"

namespace lockstep::spec {

// The data of a pipeline's step that are not in its spec.
struct StepFiles {
  std::optional<std::string> code_dir;  // the same field as in JobFile
  std::optional<EnvironmentReference> environment = {};
  std::optional<BuildFolder> build = {};
  std::vector<LocalData> data = {};
  std::string compute_where = {};
  std::vector<std::string> includes = {};         // files and folders that come into the code
  std::map<std::string, std::string> where = {};  // the same field as in JobFile
  bool keep_links = false;                        // symlinks that lead out of them are not followed
};

struct JobFile {
  JobSpec spec;                         // snapshot, submitter and run_as are left empty
  std::optional<std::string> code_dir;  // absolute, or relative to the working directory; it exists
  // An environment's name for the launcher to resolve; absent: spec.environment is complete.
  std::optional<EnvironmentReference> environment = {};
  std::optional<BuildFolder> build = {};  // the folder that spec.environment's image is built from
  Notes notes = {};
  std::vector<LocalData> data = {};  // the local paths of inputs of `spec`; load_job has found them
  std::string compute_where = {};    // "FILE:LINE:COL" of `compute`; "": the file names no target
  std::vector<StepFiles> steps = {};       // in the order of spec.pipeline's steps
  std::vector<std::string> includes = {};  // the same field as in StepFiles
  bool keep_links = false;                 // the same field as in StepFiles
  // "FILE:LINE:COL" of each key for whose value the launcher may refuse the job: "inputs.NAME",
  // "outputs.NAME", "environment_variables.NAME" for a secret, and kKeysOfTheLauncher; "": the
  // place of a pipeline's step itself.
  std::map<std::string, std::string> where = {};
};

// A file that may have faults.
struct JobFileReading {
  // Complete if there are no faults. Otherwise it has the parts that could be read, and none of its
  // values is checked any further. Absent: the text is not YAML.
  std::optional<JobFile> file;
  Status faults;
  std::set<std::string> unread = {};  // the keys in kKeysOfTheLauncher that have a fault
};

// Reads the file; `overrides` are "k.l=v", applied in order before anything is checked. Component
// files, and those that its environments name, come from `read_text`; registered components are
// looked up with `find`. The path "-" is standard input.
Result<JobFile> load_job(const std::string& path, const std::vector<std::string>& overrides = {},
                         const ReadText& read_text = read_text_file,
                         const FindComponent& find = {});

// The same for a file that was read before.
Result<JobFile> load_job(const NamedText& file, const std::vector<std::string>& overrides,
                         const ReadText& read_text, const FindComponent& find);

// The same without the file system, for text from anywhere. `code` is returned as written; neither
// it nor the image's build folder is checked to exist. Files of components and environments come
// from `read_text`; without it, naming a file is an error.
Result<JobFile> parse_job(const std::string& name, std::string_view text,
                          const std::vector<std::string>& overrides = {}, ReadText read_text = {},
                          const FindComponent& find = {});
// The same, with the parts that could be read beside the faults.
JobFileReading parse_job_in_part(const std::string& name, std::string_view text,
                                 const std::vector<std::string>& overrides, ReadText read_text,
                                 const FindComponent& find);

}  // namespace lockstep::spec
