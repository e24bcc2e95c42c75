#pragma once
// Checks the options that a job may add to `docker run`. Every job may add options that give no
// rights, because its container runs as the submitting user. An operator may allow more. Options
// that Lockstep sets itself are refused. The words are parsed as docker parses them, and passed on
// unchanged. Nothing here runs docker.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/environment/docker_options.h"

namespace lockstep {

inline constexpr std::size_t kMaxDockerArgs = 1'000;
inline constexpr std::size_t kMaxDockerArgsBytes = 1 << 17;

struct DockerArg {
  const DockerOption* option = nullptr;
  std::string value;  // the value as given; "true" for a flag without a value
};
// Parses the words as docker does, keeping their order. Errors as of check_docker_args().
Result<std::vector<DockerArg>> read_docker_args(const std::vector<std::string>& words);

// Splits a text into words as a shell does (quotes, backslashes), without expansions.
Result<std::vector<std::string>> split_docker_args(std::string_view text);

// Checks the options of a job for `docker run`; errors begin with "resources.docker_args: ".
// `allowed` has the options that the operator allows, with their dashes. Returns permission_denied
// if the words are right but need options that `allowed` lacks.
Status check_docker_args(const std::vector<std::string>& words,
                         const std::vector<std::string>& allowed);
// Checks everything that does not depend on the operator's `allowed`.
Status check_docker_args(const std::vector<std::string>& words);

// Checks that `name` ("--privileged") is an option that an operator can allow.
Status check_allowable_docker_arg(const std::string& name);

}  // namespace lockstep
