#include "launcher/core/roots.h"

#include <fmt/format.h>

namespace lockstep::launcher {

namespace {

void each_output(const State& state, const Attempt& attempt, const Part& part,
                 const std::function<void(const Root&)>& take) {
  if (!part.report) return;
  for (const CollectedOutput& output : part.report->outputs) {
    if (!output.tree) continue;
    take({*output.tree, attempt.id.job,
          fmt::format("{} of attempt {} on node {}", describe(output.kind, output.name),
                      attempt.id.number, state.node_name(part.node))});
  }
}

}  // namespace

void each_root(const State& state, const std::function<void(const Root&)>& take) {
  for (const auto& [id, job] : state.jobs()) {
    if (job.spec.snapshot) take({*job.spec.snapshot, id, "its source"});
    for (const Attempt& attempt : job.attempts)
      for (const Part& part : attempt.parts) each_output(state, attempt, part, take);
  }
}

}  // namespace lockstep::launcher
