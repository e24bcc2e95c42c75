#include "agent/environment/container_sweep.h"

#include <spdlog/spdlog.h>

#include <set>

#include "agent/environment/container_engine.h"
#include "agent/supervise/recovery.h"

namespace lockstep::agent {
namespace {

std::string label_of(const OwnContainer& container, const std::string& name) {
  const auto found = container.labels.find(name);
  return found == container.labels.end() ? "" : found->second;
}

// Whether the container's process still runs; checked after the list was made, since the process
// outlives the making of its container.
bool is_waited_for(const OwnContainer& container, const AgentHome& home) {
  if (const std::string process = label_of(container, "lockstep.process"); !process.empty()) {
    const auto identity = io::process_identity_from(process);
    return identity && io::is_alive(*identity);
  }
  const auto attempt = io::AttemptDir::attempt_of(label_of(container, "lockstep.attempt"));
  return attempt && find_runner(home.attempt(*attempt)).has_value();
}

std::set<EngineProgram> engines_of(const EnvironmentCache& cache) {
  std::set<EngineProgram> engines;
  for (envs::ImageRecord& record : cache.image_records())
    engines.insert({std::move(record.engine), std::move(record.variables)});
  return engines;
}

}  // namespace

void sweep_containers(const EnvironmentCache& cache, const AgentHome& home) {
  for (const EngineProgram& engine : engines_of(cache)) {
    const auto containers = containers_with(engine, "lockstep.home=" + home.path());
    if (!containers) {
      spdlog::debug("cannot list leftover containers: {}", containers.error().message);
      continue;
    }
    for (const OwnContainer& container : *containers) {
      if (is_waited_for(container, home)) continue;
      const Status gone = remove_container(engine, container.id);
      const std::string attempt = label_of(container, "lockstep.attempt");
      if (gone)
        spdlog::info("removed the leftover container {} of {}", container.id.substr(0, 12),
                     attempt.empty() ? "an image probe" : attempt);
      else
        spdlog::warn("{}", gone.error().message);
    }
  }
}

}  // namespace lockstep::agent
