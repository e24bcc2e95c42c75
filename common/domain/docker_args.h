#pragma once
// What a job may add to `docker run`: options that give no rights, since its container runs as the
// submitting user; what an operator allows beyond them; nothing that Lockstep says itself. They are
// read as docker reads them, and passed on as they are written. Nothing here runs docker.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/docker_options.h"

namespace lockstep {

struct DockerArg {
  const DockerOption* option = nullptr;
  std::string value;  // of a flag "true", or as it was given
};
// As docker's own reader takes them, in their order; errors as below.
Result<std::vector<DockerArg>> read_docker_args(const std::vector<std::string>& words);

// As a shell splits them (quotes, backslashes), expanding nothing.
Result<std::vector<std::string>> split_docker_args(std::string_view text);

// Errors begin with "resources.docker_args: ". `allowed`: names of options with their dashes;
// permission_denied where only these lack.
Status check_docker_args(const std::vector<std::string>& words,
                         const std::vector<std::string>& allowed);
// All that can be said without knowing what the operator allows.
Status check_docker_args(const std::vector<std::string>& words);

// That an operator may allow this option, as in "--privileged".
Status check_allowable_docker_arg(const std::string& name);

}  // namespace lockstep
