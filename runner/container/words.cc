#include "runner/container/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/container/arguments.h"

namespace lockstep::runner {
namespace {

using Words = std::vector<std::string>;

void add(Words& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
}

// Engines parse these values as comma-separated, so special characters are quoted.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted.push_back('"');
    quoted.push_back(c);
  }
  return quoted + "\"";
}

void add_identity(const ContainerPlan& plan, Words& words) {
  const Container& engine = plan.container;
  add(words, {"--user", fmt::format("{}:{}", plan.uid, plan.gid)});
  if (engine.is_podman && engine.is_rootless) {
    add(words, {"--userns", "keep-id"});
    // An ordinary user can only keep groups, not choose others.
    if (!plan.groups.empty()) add(words, {"--group-add", "keep-groups"});
  } else if (!engine.is_rootless) {
    for (const std::uint32_t group : plan.groups)
      add(words, {"--group-add", fmt::to_string(group)});
  }
  if (!Arguments(plan.arguments).is_on("privileged"))
    add(words, {"--security-opt", "no-new-privileges"});
  add(words, {"--security-opt", "label=disable"});  // for SELinux: mounts keep their labels
}

void add_mounts(const ContainerPlan& plan, Words& words) {
  for (const Mount& mount : plan.mounts)
    add(words, {"--mount", fmt::format("type=bind,{},{}{}", field("source=" + mount.source),
                                       field("target=" + mount.target),
                                       mount.is_read_only ? ",readonly" : "")});
  add(words, {"--workdir", plan.directory});
}

void add_limits(const ContainerPlan& plan, Words& words) {
  const Container& engine = plan.container;
  if (Arguments(plan.arguments).last("ipc") != "host")
    add(words, {"--shm-size", fmt::format("{}b", plan.shm_size.count)});
  if (plan.memory && engine.limits_memory) {
    const std::string bytes = fmt::format("{}b", plan.memory->count);
    add(words, {"--memory", bytes, "--memory-swap", bytes});
  }
  // ordinary users often do not get this controller delegated
  if (!engine.is_rootless)
    add(words, {"--cpu-shares", fmt::to_string(std::clamp(1024 * plan.cpus, 2, 262'144))});
  if (engine.unlimited_memlock) add(words, {"--ulimit", "memlock=-1:-1"});
  // Rootless podman fails if its user was not delegated the controller; docker only warns.
  if (!engine.is_podman || !engine.is_rootless)
    add(words, {"--pids-limit", fmt::to_string(plan.pids_limit)});
}

void add_devices(const ContainerPlan& plan, Words& words) {
  for (const std::string& device : plan.devices) add(words, {"--device", device});
  if (plan.gpus.empty()) return;
  if (plan.container.gpus == "cdi") {
    for (const int gpu : plan.gpus) add(words, {"--device", fmt::format("nvidia.com/gpu={}", gpu)});
  } else {
    add(words, {"--gpus", fmt::format("\"device={}\"", fmt::join(plan.gpus, ","))});
  }
}

}  // namespace

std::vector<std::string> run_words(const ContainerPlan& plan) {
  Words words{plan.container.engine, "run",  "--rm",   "--pull", "never",
              "--log-driver",        "none", "--name", plan.name};
  add(words, {"--network", "host"});
  if (!plan.hostname.empty() && Arguments(plan.arguments).last("uts") != "host")
    add(words, {"--hostname", plan.hostname});
  add_identity(plan, words);
  add(words, {"--entrypoint", kSpawnInside, "--no-healthcheck"});
  add_mounts(plan, words);
  add_limits(plan, words);
  add_devices(plan, words);
  words.insert(words.end(), plan.arguments.begin(), plan.arguments.end());
  // Variables go into a file, since all users of the machine can read the engine's command line.
  if (!plan.variables_file.empty()) add(words, {"--env-file", plan.variables_file});
  // Labels come last, so that the job cannot replace them: the agent finds its containers by them.
  for (const auto& [name, value] : plan.labels) add(words, {"--label", name + "=" + value});
  add(words, {plan.container.image, "--connect", std::string(kRunInside) + "/" + plan.socket});
  return words;
}

std::vector<std::string> remove_words(const Container& container, const std::string& name) {
  return {container.engine, "rm", "--force", name};
}

}  // namespace lockstep::runner
