#pragma once
// Checks the options that a job adds to `docker run`. Allowed are options that give no extra
// rights, and those that the operator allows; options that Lockstep itself sets are refused. They
// are parsed as docker parses them and passed on unchanged. Nothing here runs docker.

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
// Parses words as docker does, in their order. Errors as in check_docker_args.
Result<std::vector<DockerArg>> read_docker_args(const std::vector<std::string>& words);

// As a shell splits them (quotes, backslashes), expanding nothing.
Result<std::vector<std::string>> split_docker_args(std::string_view text);

// Errors begin with "resources.docker_args: ". `allowed`: names of options with their dashes;
// permission_denied where only these lack.
Status check_docker_args(const std::vector<std::string>& words,
                         const std::vector<std::string>& allowed);
// The checks that do not depend on what the operator allows.
Status check_docker_args(const std::vector<std::string>& words);

// Whether an operator may allow this option ("--privileged").
Status check_allowable_docker_arg(const std::string& name);

}  // namespace lockstep
