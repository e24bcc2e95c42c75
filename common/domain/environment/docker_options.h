#pragma once
// The options of `docker run`, from its reference, and who may use each for a job's container.
// Podman has options of the same names.

#include <span>
#include <string_view>

namespace lockstep {

enum class DockerGrant {
  everybody,  // it gives no rights: the container runs as the submitting user
  operators,  // it gives rights on the node, or not every engine has it
  nobody,     // Lockstep sets it itself
};

struct DockerOption {
  std::string_view name;  // without dashes
  char letter = '\0';     // '\0' = none
  bool takes_value = true;
  DockerGrant grant = DockerGrant::operators;
  std::string_view instead = {};  // for DockerGrant::nobody: why, and what to do instead
};

std::span<const DockerOption> docker_options();
// nullptr: no option has this name or letter.
const DockerOption* find_docker_option(std::string_view name);
const DockerOption* find_docker_option(char letter);

}  // namespace lockstep
