#include "launcher/core/explain/step_views.h"

#include <algorithm>

#include "common/domain/why/jobs/steps.h"
#include "launcher/core/explain/state_views.h"
#include "launcher/core/pipelines/pipelines.h"

namespace lockstep::launcher {
namespace {

StepPhase phase_of(const Steps::Step& step) {
  switch (step.phase) {
    case Steps::Phase::waiting: return StepPhase::waiting;
    case Steps::Phase::running: return StepPhase::running;
    case Steps::Phase::completed: return step.reused ? StepPhase::reused : StepPhase::completed;
    case Steps::Phase::failed: return StepPhase::failed;
    case Steps::Phase::skipped: return StepPhase::skipped;
  }
  return StepPhase::waiting;
}

std::vector<std::string> bound_to(const PipelineStep& step) {
  std::vector<std::string> names;
  for (const StepBinding& binding : step.bindings)
    if (std::find(names.begin(), names.end(), binding.step) == names.end())
      names.push_back(binding.step);
  return names;
}

Why why_it_waits(const Job& job, const PipelineStep& step, const Steps::Step& at) {
  if (job.cancel_by) return {};
  if (step.role == StepRole::on_finalize) return WaitsForOtherSteps{};
  if (at.missing == 0)
    return TooManyStepsRun{static_cast<int>(most_running_steps(*job.spec.pipeline))};
  for (const std::string& name : bound_to(step))
    if (job.steps->of(name).phase != Steps::Phase::completed)
      return WaitsForStep{name, static_cast<int>(at.missing) - 1};
  return WaitsForOnInit{};
}

void add_job(const Cluster& cluster, const Scheduler& scheduler, const Job& job, StepView* view) {
  view->status = job.status();
  view->compute = job.spec.compute;
  const JobView own = view_of(cluster, scheduler, job, 0, ViewDetail::outline);
  if (!view->why) view->why = own.why;
  if (!own.attempts.empty()) view->started = own.attempts.back().started;
  view->ended = own.ended;
  view->in_vain = own.in_vain;
}

}  // namespace

std::vector<StepView> step_views(const Cluster& cluster, const Scheduler& scheduler,
                                 const Job& job) {
  std::vector<StepView> views;
  if (!job.steps) return views;
  views.reserve(job.steps->all().size());
  for (std::size_t i = 0; i < job.steps->all().size(); ++i) {
    const PipelineStep& step = job.spec.pipeline->steps[i];
    const Steps::Step& at = job.steps->all()[i];
    StepView view;
    view.name = step.name;
    view.phase = phase_of(at);
    view.job = at.job;
    view.compute = step.spec.compute;
    view.after = bound_to(step);
    view.why = at.why;
    if (at.phase == Steps::Phase::waiting) view.why = why_it_waits(job, step, at);
    const Job* own = at.reused ? nullptr : cluster.state.job(at.job);
    if (own != nullptr) add_job(cluster, scheduler, *own, &view);
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace lockstep::launcher
