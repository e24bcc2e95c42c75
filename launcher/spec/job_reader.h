#pragma once
// Turns a YAML tree into a JobSpec: checks every key against the table of keys.h, then fills the
// fields. It reads only the files of the environment, through `read_text`; the code directory is
// only named.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/job_spec.h"
#include "launcher/spec/environment_reader.h"
#include "launcher/spec/faults.h"
#include "launcher/spec/input_reader.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

struct ReadJob {
  JobSpec spec;
  std::optional<std::string> code;  // as written
  Place code_place;
  std::optional<Place> compute_place = {};          // absent: the file names no target
  std::optional<EnvironmentReference> environment;  // absent: spec.environment is complete
  std::optional<BuildFolder> build;                 // the build folder of spec.environment
  Notes notes;
  std::vector<LocalData> local_data;  // of inputs of `spec`
};

// Adds every fault, with its place, to `faults`. If there are any, the returned job is not usable.
ReadJob read_job(const Source& source, YamlNode root, const ReadText& read_text, Faults& faults);

}  // namespace lockstep::spec
