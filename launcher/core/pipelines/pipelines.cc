#include "launcher/core/pipelines/pipelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "common/domain/why/jobs/orders.h"
#include "common/domain/why/jobs/steps.h"
#include "launcher/core/access/users.h"
#include "launcher/core/attempts/merging.h"
#include "launcher/core/attempts/verdict.h"
#include "launcher/core/jobs/cancel.h"
#include "launcher/core/jobs/refusals.h"
#include "launcher/core/jobs/retention.h"
#include "launcher/core/jobs/step_names.h"
#include "launcher/core/jobs/target_choice.h"
#include "launcher/core/names/environment_requests.h"
#include "launcher/state/jobs/step_key.h"

namespace lockstep::launcher {
namespace {

const PipelineStep& step_at(const Job& job, std::size_t index) {
  return job.spec.pipeline->steps[index];
}

void skip(Context& core, const Job& job, std::size_t index, Why why) {
  core.emit(StepSkipped{job.id, step_at(job, index).name, std::move(why)});
}

// ---- steps that never run -----------------------------------------------------------------------

// Why a step can never run: it needs the step `name`, which failed or was not run.
Why why_hopeless(const Job& job, const std::string& name, StepLink link) {
  const Steps& steps = *job.steps;
  const Steps::Step& needed = steps.of(name);
  if (needed.phase == Steps::Phase::failed) return NeedsFailedStep{name, std::move(link)};
  if (!needed.cause) return NeedsSkippedStep{name, std::move(link), "", needed.why};
  const Steps::Step& first = steps.all()[*needed.cause];
  return NeedsSkippedStep{name, std::move(link), step_at(job, *needed.cause).name,
                          first.phase == Steps::Phase::failed ? Why() : first.why};
}

Why why_hopeless(const Job& job, const PipelineStep& step) {
  const auto is_unsuccessful = [&](const std::string& name) {
    const Steps::Phase phase = job.steps->of(name).phase;
    return phase == Steps::Phase::failed || phase == Steps::Phase::skipped;
  };
  for (const StepBinding& binding : step.bindings)
    if (is_unsuccessful(binding.step))
      return why_hopeless(job, binding.step, {binding.output, binding.input});
  for (const PipelineStep& other : job.spec.pipeline->steps)
    if (other.role == StepRole::on_init && is_unsuccessful(other.name))
      return why_hopeless(job, other.name, {});
  return NeedsStepThatWasNotRun{};
}

void skip_hopeless(Context& core, const Job& job) {
  while (!job.steps->hopeless().empty()) {
    const std::size_t index = *job.steps->hopeless().begin();
    skip(core, job, index, why_hopeless(job, step_at(job, index)));
  }
}

void skip_rest(Context& core, const Job& job) {
  const Why why = EndsWithFailedStep{step_at(job, *job.steps->first_failed()).name};
  for (const std::size_t index : std::set<std::size_t>(job.steps->waiting()))
    if (step_at(job, index).role != StepRole::on_finalize) skip(core, job, index, why);
}

// Cancels the jobs of steps that still wait in the queue: they must not begin after the failure.
void cancel_queued(Context& core, const Job& job) {
  const Why by = PipelineFailed{job.id, step_at(job, *job.steps->first_failed()).name};
  for (const std::size_t index : std::set<std::size_t>(job.steps->running())) {
    const Job* own = core.state.job(job.steps->all()[index].job);
    const bool waits = own->is_waiting() && own->attempts.empty();
    if (waits && step_at(job, index).role != StepRole::on_finalize) cancel(core, own->id, by);
  }
}

void skip_all(Context& core, const Job& job, const Why& why) {
  for (const std::size_t index : std::set<std::size_t>(job.steps->waiting()))
    skip(core, job, index, why);
}

// ---- steps that begin ---------------------------------------------------------------------------

const MergedOutput* find_output(const std::vector<MergedOutput>& outputs, const std::string& name) {
  const auto found = std::find_if(outputs.begin(), outputs.end(),
                                  [&](const MergedOutput& one) { return one.name == name; });
  return found == outputs.end() ? nullptr : &*found;
}

// Sets a bound input to the files of the other step's output. Returns why that is not possible, or
// none.
Why bind(const Job& job, const StepBinding& binding, JobSpec& spec) {
  const Steps::Step& from = job.steps->of(binding.step);
  const MergedOutput* output = find_output(from.outputs, binding.output);
  StepLink link{binding.output, binding.input};
  const bool is_there = output != nullptr && output->tree;
  if (!is_there && (output == nullptr || output->problems.empty()))
    return InputWasNotWritten{binding.step, from.job, std::move(link)};
  if (!is_there)
    return InputWasNotKept{binding.step, from.job, std::move(link), output->problems.front()};
  const auto input = std::find_if(spec.data.begin(), spec.data.end(),
                                  [&](const DataInput& one) { return one.name == binding.input; });
  if (input->type == InputType::uri_file && output->file.empty())
    return InputIsAFolder{binding.step, std::move(link)};
  input->tree = output->tree;
  input->file = output->file;
  input->source = fmt::format("azureml://jobs/{}/outputs/{}", from.job.value, binding.output);
  return {};
}

// The step as a job of the pipeline's owner, or why the job cannot be made.
std::variant<JobSpec, Why> job_of_step(const Cluster& cluster, const Job& job,
                                       const PipelineStep& step) {
  JobSpec spec = step.spec;
  for (const StepBinding& binding : step.bindings)
    if (Why why = bind(job, binding, spec)) return why;
  spec.name = name_of_step(cluster.state, job, step.name).value;
  spec.parent = job.id;
  spec.step = step.name;
  spec.submitter = job.spec.submitter;
  spec.project = job.spec.project;
  spec.run_as = job.spec.run_as;
  if (spec.experiment_name.empty()) spec.experiment_name = job.spec.experiment_name;
  if (auto choice = choose_target(cluster, spec)) {
    spec.compute = std::move(choice->target);
    spec.compute_why = std::move(choice->why);
  }
  const Principals& principals = cluster.state.principals();
  const bool is_known = principals.user(spec.submitter) != nullptr;
  if (is_known && !is_allowed(principals, UserCaller{spec.submitter}, Permission::submit,
                              {spec.submitter, spec.project, false, {}}))
    return Why(UserMayNotSubmit{spec.submitter});
  const std::string target = target_of(spec);
  const Compute* compute = cluster.state.computes().find(target);
  if (!cluster.state.computes().has(target) || (compute != nullptr && compute->leaving))
    return Why(TargetWasDeleted{target});
  return spec;
}

// A completed job with the same content whose outputs the step may use; null: there is none. The
// holder of an attempt's credential, such as root of its node, can write the outputs of the jobs
// that it submits. So these outputs are used only within the attempt's own family, and never by a
// job that a person submits.
const Job* to_reuse(const State& state, const Job& pipeline, const PipelineStep& step,
                    const JobSpec& spec) {
  const bool may = step.reuse && !gives_artifacts(*pipeline.spec.pipeline, step.name);
  const auto key = may ? reuse_key(spec) : std::nullopt;
  return key ? state.reusable(pipeline.family, *key) : nullptr;
}

void begin(Context& core, const Job& job, std::size_t index) {
  const PipelineStep& step = step_at(job, index);
  auto made = job_of_step(core.cluster(), job, step);
  if (Why* why = std::get_if<Why>(&made)) return skip(core, job, index, std::move(*why));
  JobSpec* spec = std::get_if<JobSpec>(&made);
  if (const Job* same = to_reuse(core.state, job, step, *spec)) {
    core.emit(StepReused{job.id, step.name, same->id, *same->merged});
    return;
  }
  auto checkpoint = first_checkpoint(core.cluster(), UserCaller{spec->submitter}, *spec);
  if (!checkpoint) return skip(core, job, index, told(checkpoint.error().message));
  const JobId id{spec->name};
  JobSubmitted submitted;
  submitted.checkpoint = *std::move(checkpoint);
  submitted.job = id;
  submitted.incarnation = incarnation_of_new(core.state, submitted.job);
  submitted.spec = std::move(*spec);
  core.emit(std::move(submitted));
  inherit_locks(core, id);
}

void begin_ready(Context& core, const Job& job) {
  const std::size_t most = most_running_steps(*job.spec.pipeline);
  while (!job.steps->ready().empty() && job.steps->running().size() < most)
    begin(core, job, *job.steps->ready().begin());
}

// ---- its end ------------------------------------------------------------------------------------

void cancel_steps(Context& core, const Job& job) {
  for (const std::size_t index : std::set<std::size_t>(job.steps->running()))
    cancel(core, job.steps->all()[index].job, *job.cancel_by);
}

ExitReport report_of(const State& state, const Job& job, Instant now) {
  ExitReport report;
  report.time = now;
  if (!job.steps->any_unsuccessful()) return report;
  if (const auto first = job.steps->first_failed()) {
    report = state.job(job.steps->all()[*first].job)->finish()->report;
  } else {
    report.cause = Cause::start_failed;
    report.exit_code = 125;
  }
  report.why = why_it_failed(state, job);
  return report;
}

std::vector<MergedOutput> outputs_of(const Job& job) {
  std::vector<MergedOutput> outputs;
  for (const PipelineOutput& output : job.spec.pipeline->outputs) {
    const MergedOutput* from = find_output(job.steps->of(output.step).outputs, output.output);
    if (from == nullptr) continue;
    outputs.push_back(*from);
    outputs.back().name = output.name;
  }
  return outputs;
}

void end(Context& core, const Job& job) {
  if (job.cancel_by) {
    core.emit(JobFinished{job.id, JobStatus::canceled, canceled_report(core.state, job, core.now)});
    return;
  }
  if (!job.merged) core.emit(OutputsMerged{job.id, outputs_of(job)});
  const bool failed = job.steps->any_unsuccessful();
  core.emit(JobFinished{job.id, failed ? JobStatus::failed : JobStatus::completed,
                        report_of(core.state, job, core.now)});
}

}  // namespace

std::size_t most_running_steps(const PipelineSpec& pipeline) {
  if (pipeline.at_most == 0) return kMaxRunningSteps;
  return std::min(kMaxRunningSteps, static_cast<std::size_t>(pipeline.at_most));
}

void advance_pipeline(Context& core, const Job& job) {
  if (job.cancel_by) {
    skip_all(core, job, PipelineWasCanceled{});
    cancel_steps(core, job);
    if (job.steps->running().empty()) end(core, job);
    return;
  }
  do {
    skip_hopeless(core, job);
    if (job.steps->first_failed() && !job.spec.pipeline->continue_on_step_failure) {
      skip_rest(core, job);
      cancel_queued(core, job);
    }
    begin_ready(core, job);
  } while (!job.steps->hopeless().empty());
  if (job.steps->all_over()) end(core, job);
}

Why why_of_steps(const State& state, const Job& job) {
  const Steps& steps = *job.steps;
  if (job.cancel_by) return WaitsForStepsToStop{static_cast<int>(steps.running().size())};
  std::size_t queued = 0;
  for (const std::size_t index : steps.running())
    if (state.job(steps.all()[index].job)->is_waiting()) ++queued;
  const std::size_t running = steps.running().size() - queued;
  WaitsForSteps waits{static_cast<int>(running),
                      static_cast<int>(queued),
                      static_cast<int>(steps.waiting().size()),
                      {}};
  if (const auto first = steps.first_failed()) waits.failed_step = step_at(job, *first).name;
  return waits;
}

Why why_it_failed(const State& state, const Job& job) {
  const auto& all = job.steps->all();
  if (const auto first = job.steps->first_failed()) {
    const JobId& id = all[*first].job;
    const Job* failed = state.job(id);
    if (failed == nullptr || !failed->finish()) return {};
    return StepEndedBadly{step_at(job, *first).name, id, failed->finish()->report.why};
  }
  const auto skipped = std::find_if(all.begin(), all.end(), [](const Steps::Step& step) {
    return step.phase == Steps::Phase::skipped;
  });
  if (skipped == all.end()) return {};
  return StepWasNotRun{step_at(job, static_cast<std::size_t>(skipped - all.begin())).name,
                       skipped->why};
}

}  // namespace lockstep::launcher
