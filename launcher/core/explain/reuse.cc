#include "launcher/core/explain/reuse.h"

#include <algorithm>

#include "common/domain/why/jobs/explain.h"
#include "launcher/state/jobs/step_key.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxJobsLookedAt = 2'000;

const PipelineStep* step_of(const State& state, const Job& job) {
  const Job* parent = state.job(job.spec.parent);
  if (parent == nullptr || !parent->spec.pipeline) return nullptr;
  return &parent->spec.pipeline->steps[parent->steps->index_of(job.spec.step)];
}

// The newest completed job of the same step that was submitted earlier by another pipeline of the
// same user and family.
const Job* run_before(const State& state, const Job& job) {
  std::size_t looked_at = 0;
  const auto& all = state.submitted();
  for (auto it = std::make_reverse_iterator(all.find(job.order)); it != all.rend(); ++it) {
    if (++looked_at > kMaxJobsLookedAt) return nullptr;
    const Job& other = *state.job(it->second);
    const bool is_same = other.spec.step == job.spec.step &&
                         other.spec.submitter == job.spec.submitter &&
                         other.spec.project == job.spec.project && other.family == job.family;
    if (is_same && other.finish() && other.finish()->status == JobStatus::completed) return &other;
  }
  return nullptr;
}

// Why no earlier run is looked for; none: one is looked for.
Why why_not_reusable(const State& state, const Job& job) {
  const PipelineStep* step = step_of(state, job);
  if (step != nullptr && !step->reuse) return NoResultIsReused{NotReused::as_asked};
  if (job.spec.outputs.empty()) return NoResultIsReused{NotReused::no_outputs};
  if (!job.reuse_key) return NoResultIsReused{NotReused::no_key};
  return {};
}

void explain_step(const State& state, const Job& job, const std::function<bool(const Job&)>& reads,
                  ReuseExplained& explained) {
  std::vector<Why>& lines = explained.lines;
  lines.push_back(IsStepOf{job.spec.step, job.spec.parent});
  if (Why why = why_not_reusable(state, job)) return lines.push_back(std::move(why));
  const Job* before = run_before(state, job);
  if (before == nullptr) return lines.push_back(NoEarlierRun{});
  if (!reads(*before)) return lines.push_back(NoRunHadThisContent{});
  RerunView rerun{before->id, differences(before->spec, job.spec)};
  if (rerun.changes.empty()) return lines.push_back(CompletedTooLate{before->id});
  lines.push_back(why_again(rerun));
  explained.rerun = std::move(rerun);
}

}  // namespace

Why why_again(const RerunView& rerun) {
  RunsAgain again{rerun.before, {}};
  for (const PartChange& change : rerun.changes) {
    ChangedPart& part = again.parts.emplace_back();
    part.part = change.part;
    if (!change.files || change.files->first.empty()) continue;
    const FileChanges& files = *change.files;
    part.files = ChangedFiles{files.added, files.removed, files.changed, files.first, files.more};
  }
  return again;
}

ReuseExplained explain_reuse(const State& state, const Job& job,
                             const std::function<bool(const Job&)>& reads) {
  ReuseExplained explained;
  if (!job.spec.step.empty()) {
    explain_step(state, job, reads, explained);
    return explained;
  }
  if (!job.steps) return explained;
  for (std::size_t i = 0; i < job.steps->all().size(); ++i) {
    const Steps::Step& at = job.steps->all()[i];
    if (at.reused) explained.lines.push_back(StepReuses{job.spec.pipeline->steps[i].name, at.job});
  }
  return explained;
}

}  // namespace lockstep::launcher
