#include "agent/environment/target.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <algorithm>

#include <variant>

#include "common/base/match.h"
#include "envs/provider.h"

namespace lockstep::agent {
namespace {

std::string machine() {
  const std::string platform = envs::platform_of("");
  return platform.substr(0, platform.rfind("-python"));
}

// conda's name of the platform, with the versions that all nodes of the attempt have.
std::string conda_platform(const EnvironmentPlan& plan) {
  utsname kernel{};
  ::uname(&kernel);
  const std::string_view machine = kernel.machine;
  std::string platform = fmt::format("linux-{}", machine == "x86_64" ? "64" : machine);
  for (const std::string& package : plan.virtual_packages) platform += " " + package;
  return platform;
}

// The platform of an image: it runs on all machines of its architecture, but packages in it may
// need a GPU's driver.
std::string docker_platform(const EnvironmentPlan& plan) {
  std::string platform = machine();
  for (const std::string& package : plan.virtual_packages) platform += " " + package;
  return platform;
}

std::string platform_for(const EnvironmentDefinition& definition, const EnvironmentPlan& plan,
                         const Interpreter& interpreter) {
  return std::visit(
      Match{[&](const HostEnvironment&) {
              // Nothing is solved for a host environment. The version is part of the platform, so
              // that nodes with different ones are noticed.
              return interpreter.version.empty()
                         ? machine()
                         : fmt::format("{}-python{}", machine(), interpreter.version);
            },
            [&](const VenvEnvironment&) { return envs::platform_of(interpreter.version); },
            [&](const CondaEnvironment&) { return conda_platform(plan); },
            [&](const DockerEnvironment&) { return docker_platform(plan); }},
      definition);
}

// Makes an environment's key. Two inputs of different meaning never give the same text: a value of
// unknown length is last in its line.
Digest key_of(const EnvironmentTarget& target, const Interpreter& interpreter) {
  std::string text =
      fmt::format("lockstep environment key 2\ndefinition {}\ngeneration {}\nplatform {}\n",
                  digest_of(target.definition).hex(), target.generation, target.platform);
  text += fmt::format("account {}\n", target.run_as);
  if (!needs_lock(target.definition)) text += fmt::format("interpreter {}\n", interpreter.path);
  if (target.lock) text += fmt::format("lock {}\n", target.lock->hex());
  return sha256(text);
}

}  // namespace

std::string interpreter_of(const EnvironmentDefinition& definition) {
  return std::visit(Match{[](const HostEnvironment& host) { return host.interpreter; },
                          [](const VenvEnvironment& venv) { return venv.python; },
                          [](const CondaEnvironment&) { return std::string(); },
                          [](const DockerEnvironment&) { return std::string(); }},
                    definition);
}

EnvironmentTarget target_of(const Assignment& assignment, const Interpreter& interpreter,
                            const io::User& user) {
  using What = EnvironmentTarget::What;
  EnvironmentTarget target;
  target.definition = assignment.spec.environment->definition;
  target.generation = assignment.environment.generation;
  target.share = assignment.environment.share;
  target.user = user;
  target.run_as = assignment.spec.run_as;
  target.pids = limits_of(assignment.spec.limits, {}).pids;
  if (assignment.spec.resources.memory && assignment.allotment.memory.count > 0)
    target.memory = std::max(assignment.allotment.memory, kLeastBuildMemory);
  target.cpus = static_cast<int>(assignment.allotment.cpus.size());
  target.job = assignment.attempt.job.value;
  target.platform = platform_for(target.definition, assignment.environment, interpreter);
  if (needs_lock(target.definition)) {
    for (const EnvironmentLock& lock : assignment.environment.locks)
      if (lock.platform == target.platform) target.lock = lock.tree;
    target.what = target.lock                    ? What::build
                  : assignment.environment.solve ? What::solve
                                                 : What::wait;
  } else {
    target.what = What::build;
  }
  target.key = key_of(target, interpreter);
  return target;
}

std::string described(const EnvironmentTarget& target) {
  return fmt::format("environment {} ({}, {})", target.key.hex().substr(0, 12),
                     provider_of(target.definition), target.platform);
}

}  // namespace lockstep::agent
