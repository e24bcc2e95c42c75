#include "launcher/core/merging.h"

namespace lockstep::launcher {
namespace {

constexpr Duration kMergeAgainAfter = seconds(5);

MergeOutputs question_of(const Job& job) {
  MergeOutputs question{job.id, {}};
  for (const OutputSpec& wanted : job.spec.outputs) {
    MergeOutputs::Output output{wanted.name, wanted.type, {}};
    const std::vector<Part>& parts = job.attempts.back().parts;
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      if (!parts[rank].report) continue;
      for (const CollectedOutput& one : parts[rank].report->outputs)
        if (one.kind == OutputKind::named && one.name == wanted.name && one.tree)
          output.trees.push_back({static_cast<int>(rank), *one.tree});
    }
    question.outputs.push_back(std::move(output));
  }
  return question;
}

bool nothing_to_merge(const MergeOutputs& question) {
  for (const MergeOutputs::Output& output : question.outputs)
    if (!output.trees.empty()) return false;
  return true;
}

}  // namespace

bool waits_for_merge(Context& core, const Job& job, const ExitReport& report) {
  const bool is_wanted = !job.spec.parent.value.empty() && !job.spec.outputs.empty();
  if (!is_wanted || job.merged || report.cause != Cause::completed) return false;
  MergeOutputs question = question_of(job);
  if (nothing_to_merge(question)) {
    std::vector<MergedOutput> empty;
    for (const OutputSpec& output : job.spec.outputs) empty.push_back({output.name, {}, {}, {}});
    core.emit(OutputsMerged{job.id, std::move(empty)});
    return false;
  }
  if (core.merging.insert(job.id).second) core.act(std::move(question));
  return true;
}

void react(Context& core, const OutputsMergedInput& input) {
  const Job* job = core.state.job(input.job);
  if (job == nullptr || job->phase != Job::Phase::ended || job->merged) return;
  if (!input.why_not.empty()) {
    core.record(input.job, {core.now,
                            Event::Kind::logs_wait,
                            0,
                            {},
                            "its outputs are not merged yet: " + input.why_not});
    core.timers.set({TimerKey::Kind::merge, {}, {input.job, 0}},
                    core.clock.polled() + kMergeAgainAfter);
    return;
  }
  core.merging.erase(input.job);
  core.emit(OutputsMerged{input.job, input.outputs});
}

void merge_again(Context& core, const JobId& id) {
  core.merging.erase(id);
  if (core.state.job(id) != nullptr) core.pending.dirty_jobs.insert(id);
}

}  // namespace lockstep::launcher
