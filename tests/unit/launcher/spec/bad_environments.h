#pragma once
// What people may write wrongly about an environment, each with its whole message.

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "launcher/spec/environment_reader.h"

namespace lockstep::spec {

using Files = std::map<std::string, std::string>;

// A disk of these files, by their paths as they are written after normalisation.
ReadText from(const Files& files);

struct BadEnvironment {
  const char* name;
  std::string text;  // of job.yml, or of env.yml
  std::string message;
  ErrorCode code = ErrorCode::invalid_argument;
  Files files = {};
  std::vector<std::string> overrides = {};  // of a job file
};
inline void PrintTo(const BadEnvironment& bad, std::ostream* out) { *out << bad.name; }

std::vector<BadEnvironment> bad_job_environments();  // `text` follows "command: x\n"
std::vector<BadEnvironment> bad_docker_jobs();       // the same, of containers
std::vector<BadEnvironment> bad_environment_files();
std::vector<BadEnvironment> bad_docker_files();
std::vector<BadEnvironment> bad_conda_files();  // of env.yml as a conda file, or a lock file

}  // namespace lockstep::spec
