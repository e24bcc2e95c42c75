#pragma once
// The options of `docker run`, from its reference, and who may use each for a job's container.
// Podman has options of the same names.

#include <span>
#include <string_view>

namespace lockstep {

enum class DockerGrant {
  everybody,  // gives no rights, because the container runs as the submitting user
  operators,  // gives rights on the node, or some engines do not have it
  nobody,     // Lockstep sets the option itself
};

struct DockerOption {
  std::string_view name;  // the option's name, without dashes
  char letter = '\0';     // '\0' = none
  bool takes_value = true;
  DockerGrant grant = DockerGrant::operators;
  std::string_view instead = {};  // for DockerGrant::nobody: why, and what to use instead
};

std::span<const DockerOption> docker_options();
// Finds an option by name or letter; nullptr: there is no such option.
const DockerOption* find_docker_option(std::string_view name);
const DockerOption* find_docker_option(char letter);

}  // namespace lockstep
