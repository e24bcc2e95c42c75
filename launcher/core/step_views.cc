#include "launcher/core/step_views.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/core/counted.h"
#include "launcher/core/pipelines.h"
#include "launcher/core/views.h"

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

// "waits for prepare and 2 more steps".
std::string why_it_waits(const Job& job, const PipelineStep& step, const Steps::Step& at) {
  if (job.cancel_by) return "";
  if (step.role == StepRole::on_finalize) return "waits until all other steps are over";
  if (at.missing == 0)
    return fmt::format("waits until fewer than {} run",
                       counted(most_running_steps(*job.spec.pipeline), "step"));
  for (const std::string& name : bound_to(step))
    if (job.steps->of(name).phase != Steps::Phase::completed)
      return at.missing == 1
                 ? "waits for " + name
                 : fmt::format("waits for {} and {}", name, counted(at.missing - 1, "more step"));
  return "waits for the step of on_init";
}

void add_job(const Cluster& cluster, const Scheduler& scheduler, const Job& job, StepView* view) {
  view->status = job.status();
  view->compute = job.spec.compute;
  const JobView own = view_of(cluster, scheduler, job, 0, ViewDetail::outline);
  if (view->reason.empty()) view->reason = own.reason;
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
    view.reason = at.why;
    if (at.phase == Steps::Phase::waiting) view.reason = why_it_waits(job, step, at);
    const Job* own = at.reused ? nullptr : cluster.state.job(at.job);
    if (own != nullptr) add_job(cluster, scheduler, *own, &view);
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace lockstep::launcher
