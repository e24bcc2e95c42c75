#pragma once
// From a YAML tree to a JobSpec: checks every key against the table of keys.h, then fills the
// fields. It reads no file; the code directory is only named here.

#include <optional>
#include <string>

#include "common/domain/job_spec.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

struct ReadJob {
  JobSpec spec;
  std::optional<std::string> code;  // as written
  Place code_place;
};

// Errors name the first problem, with its place.
Result<ReadJob> read_job(const Source& source, const YamlNode& root);

}  // namespace lockstep::spec
