#pragma once
// Mistakes that people may make in an environment, each with its whole error message.

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "launcher/files/environment/environment_reader.h"

namespace lockstep::spec {

using Files = std::map<std::string, std::string>;

// A ReadText over these files, by normalised path.
ReadText from(const Files& files);

// The component files of bad_pipelines() (bad_input.h).
Files files_of_bad_pipelines();

struct BadEnvironment {
  const char* name;
  std::string text;  // the content of job.yml or env.yml
  std::string message;
  ErrorCode code = ErrorCode::invalid_argument;
  Files files = {};
  std::vector<std::string> overrides = {};  // for a job file
};
inline void PrintTo(const BadEnvironment& bad, std::ostream* out) { *out << bad.name; }

std::vector<BadEnvironment> bad_job_environments();  // `text` follows "command: x\n"
std::vector<BadEnvironment> bad_docker_jobs();       // the same, for containers
std::vector<BadEnvironment> bad_environment_files();
std::vector<BadEnvironment> bad_docker_files();
std::vector<BadEnvironment> bad_conda_files();  // env.yml is a conda file or a lock file

}  // namespace lockstep::spec
