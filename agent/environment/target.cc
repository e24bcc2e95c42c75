#include "agent/environment/target.h"

#include <fmt/format.h>

#include <variant>

#include "envs/provider.h"

namespace lockstep::agent {
namespace {

std::string machine() {
  const std::string platform = envs::platform_of("");
  return platform.substr(0, platform.rfind("-python"));
}

// One text for each meaning; what is of no length known stands last in its line.
Digest key_of(const EnvironmentTarget& target, const Interpreter& interpreter) {
  std::string text =
      fmt::format("lockstep environment key 1\ndefinition {}\ngeneration {}\nplatform {}\n",
                  digest_of(target.definition).hex(), target.generation, target.platform);
  if (!needs_lock(target.definition)) text += fmt::format("interpreter {}\n", interpreter.path);
  if (target.lock) text += fmt::format("lock {}\n", target.lock->hex());
  return sha256(text);
}

}  // namespace

const std::string& interpreter_of(const EnvironmentDefinition& definition) {
  if (const auto* host = std::get_if<HostEnvironment>(&definition)) return host->interpreter;
  return std::get<VenvEnvironment>(definition).python;
}

EnvironmentTarget target_of(const Assignment& assignment, const Interpreter& interpreter,
                            const io::User& user) {
  using What = EnvironmentTarget::What;
  EnvironmentTarget target;
  target.definition = assignment.spec.environment->definition;
  target.generation = assignment.environment.generation;
  target.user = user;
  target.job = assignment.attempt.job.value;
  if (needs_lock(target.definition)) {
    target.platform = envs::platform_of(interpreter.version);
    for (const EnvironmentLock& lock : assignment.environment.locks)
      if (lock.platform == target.platform) target.lock = lock.tree;
    target.what = target.lock                    ? What::build
                  : assignment.environment.solve ? What::solve
                                                 : What::wait;
  } else {
    // Nothing is solved, so that nothing hides how the nodes differ.
    target.platform = interpreter.version.empty()
                          ? machine()
                          : fmt::format("{}-python{}", machine(), interpreter.version);
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
