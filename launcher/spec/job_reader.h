#pragma once
// From a YAML tree to a JobSpec: checks every key against the table of keys.h, then fills the
// fields. Of files it reads only those that an environment is of, through `read_text`; the code
// directory is only named here.

#include <optional>
#include <string>

#include "common/domain/job_spec.h"
#include "launcher/spec/environment_reader.h"
#include "launcher/spec/faults.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

struct ReadJob {
  JobSpec spec;
  std::optional<std::string> code;  // as written
  Place code_place;
  std::optional<Place> compute_place = {};          // absent: it names no target
  std::optional<EnvironmentReference> environment;  // absent: spec.environment is all there is
  std::optional<BuildFolder> build;                 // of spec.environment
  Notes notes;
};

// What is wrong goes into `faults`, all of it, each with its place; then what is returned is no
// job.
ReadJob read_job(const Source& source, YamlNode root, const ReadText& read_text, Faults& faults);

}  // namespace lockstep::spec
