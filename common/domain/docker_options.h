#pragma once
// The options of `docker run`, as its reference has them, and who may give each to a job's
// container. Names are those that podman has too.

#include <span>
#include <string_view>

namespace lockstep {

enum class DockerGrant {
  everybody,  // it gives no rights: the container runs as the submitting user
  operators,  // it gives rights on the node, or some engines lack it
  nobody,     // Lockstep says it itself
};

struct DockerOption {
  std::string_view name;  // without dashes
  char letter = '\0';     // '\0' = none
  bool takes_value = true;
  DockerGrant grant = DockerGrant::operators;
  std::string_view instead = {};  // of those for nobody: why, and what to do
};

std::span<const DockerOption> docker_options();
// nullptr: no option has this name or letter.
const DockerOption* find_docker_option(std::string_view name);
const DockerOption* find_docker_option(char letter);

}  // namespace lockstep
