#include "launcher/core/roots.h"

#include <fmt/format.h>

namespace lockstep::launcher {

namespace {

void each_output(const State& state, const Attempt& attempt, const Part& part,
                 const std::function<void(const Root&)>& take) {
  const auto take_one = [&](const CollectedOutput& output) {
    if (!output.tree) return;
    take({*output.tree, attempt.id.job,
          fmt::format("{} of attempt {} on node {}", describe(output.kind, output.name),
                      attempt.id.number, state.node_name(part.node))});
  };
  if (part.saved) take_one(part.saved->checkpoint);
  if (!part.report) return;
  if (part.report->restored) take_one(*part.report->restored);
  for (const CollectedOutput& output : part.report->outputs) take_one(output);
}

}  // namespace

std::string describe(const Root& root) {
  return root.job.value.empty() ? root.what : fmt::format("job {}, {}", root.job.value, root.what);
}

void each_root(const State& state, const std::function<void(const Root&)>& take) {
  for (const auto& [id, job] : state.jobs()) {
    if (job.spec.snapshot) take({*job.spec.snapshot, id, "its source"});
    if (const Digest* context =
            job.spec.environment ? context_of(job.spec.environment->definition) : nullptr)
      take({*context, id, "what its image is built from"});
    for (const Attempt& attempt : job.attempts)
      for (const Part& part : attempt.parts) each_output(state, attempt, part, take);
  }
  const JobId nobody;
  for (const auto& [name, versions] : state.registered())
    for (const EnvironmentVersion& version : versions)
      if (const Digest* context = context_of(version.environment.spec.definition))
        take({*context, nobody, fmt::format("what environment {} is built from", name)});
  for (const auto& [definition, environment] : state.environments())
    for (const auto& [platform, lock] : environment.locks)
      take({lock.tree, lock.attempt.job,
            fmt::format("the lock of its environment for {}", platform)});
}

}  // namespace lockstep::launcher
