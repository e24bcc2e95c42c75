#include "launcher/core/explain_reuse.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/core/step_key.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxJobsLookedAt = 2'000;

const PipelineStep* step_of(const State& state, const Job& job) {
  const Job* parent = state.job(job.spec.parent);
  if (parent == nullptr || !parent->spec.pipeline) return nullptr;
  return &parent->spec.pipeline->steps[parent->steps->index_of(job.spec.step)];
}

// The newest job of the same step, submitted before, that completed; of another pipeline of the
// same person.
const Job* run_before(const State& state, const Job& job) {
  std::size_t looked_at = 0;
  const auto& all = state.submitted();
  for (auto it = std::make_reverse_iterator(all.find(job.order)); it != all.rend(); ++it) {
    if (++looked_at > kMaxJobsLookedAt) return nullptr;
    const Job& other = *state.job(it->second);
    const bool is_same = other.spec.step == job.spec.step &&
                         other.spec.submitter == job.spec.submitter &&
                         other.spec.project == job.spec.project;
    if (is_same && other.finish && other.finish->status == JobStatus::completed) return &other;
  }
  return nullptr;
}

std::string why_it_ran(const State& state, const Job& job) {
  const PipelineStep* step = step_of(state, job);
  if (step != nullptr && !step->reuse)
    return "no result is reused: force_rerun, or is_deterministic: false";
  if (job.spec.outputs.empty())
    return "no result is reused: the step has no outputs, so it was written for its effect";
  if (!job.reuse_key)
    return "no result is reused: the step has a secret, or an input that is read in place";
  const Job* before = run_before(state, job);
  if (before == nullptr) return "no earlier job of this step has completed";
  const std::vector<std::string> changed = differences(before->spec, job.spec);
  if (changed.empty())
    return fmt::format("job {} had the same content, but completed later", before->id.value);
  return fmt::format("not reused: since job {}, these changed: {}", before->id.value,
                     fmt::join(changed, ", "));
}

}  // namespace

std::vector<std::string> explain_reuse(const State& state, const Job& job) {
  if (!job.spec.step.empty())
    return {fmt::format("step '{}' of pipeline {}", job.spec.step, job.spec.parent.value),
            why_it_ran(state, job)};
  std::vector<std::string> lines;
  if (!job.steps) return lines;
  for (std::size_t i = 0; i < job.steps->all().size(); ++i) {
    const Steps::Step& at = job.steps->all()[i];
    if (at.reused)
      lines.push_back(
          fmt::format("step '{}' reuses the outputs of job {}, which had the same "
                      "content",
                      job.spec.pipeline->steps[i].name, at.job.value));
  }
  return lines;
}

}  // namespace lockstep::launcher
