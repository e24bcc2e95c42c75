#include "agent/inventory/engine_probe.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <vector>

namespace lockstep::agent {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_program(const std::string& name) {
  if (name.starts_with('/')) return ::access(name.c_str(), X_OK) == 0;
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (folder.starts_with('/') && ::access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

std::string probe_container_engine() {
  const std::string choice = variable("LOCKSTEP_CONTAINER_ENGINE");
  const std::vector<std::string> names =
      choice.empty() ? std::vector<std::string>{"docker", "podman"} : std::vector{choice};
  for (const std::string& name : names)
    if (is_program(name)) return name;
  return "";
}

}  // namespace lockstep::agent
