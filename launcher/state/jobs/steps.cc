#include "launcher/state/jobs/steps.h"

namespace lockstep::launcher {

Steps::Steps(const PipelineSpec& pipeline)
    : steps_(pipeline.steps.size()), dependents_(pipeline.steps.size()), open_(steps_.size()) {
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const PipelineStep& step = pipeline.steps[i];
    index_.emplace(step.name, i);
    waiting_.insert(i);
    if (step.role == StepRole::on_init) first.push_back(i);
    if (step.role == StepRole::on_finalize) finalizer_ = i;
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const PipelineStep& step = pipeline.steps[i];
    if (step.role == StepRole::on_finalize) continue;
    std::set<std::size_t> needs;
    for (const StepBinding& binding : step.bindings) needs.insert(index_.at(binding.step));
    if (step.role == StepRole::main) needs.insert(first.begin(), first.end());
    for (const std::size_t on : needs) depend(i, on);
    if (needs.empty()) ready_.insert(i);
  }
  if (finalizer_ && open_ == 1) ready_.insert(*finalizer_);
}

void Steps::depend(std::size_t step, std::size_t on) {
  dependents_[on].push_back(step);
  ++steps_[step].missing;
}

void Steps::submitted(const std::string& name, const JobId& job) {
  const std::size_t step = index_.at(name);
  steps_[step].phase = Phase::running;
  steps_[step].job = job;
  waiting_.erase(step);
  ready_.erase(step);
  running_.insert(step);
}

void Steps::ended(const std::string& name, bool completed,
                  const std::vector<MergedOutput>& outputs) {
  const std::size_t step = index_.at(name);
  if (completed) steps_[step].outputs = outputs;
  settle(step, completed ? Phase::completed : Phase::failed);
}

void Steps::reused(const std::string& name, const JobId& job,
                   const std::vector<MergedOutput>& outputs) {
  const std::size_t step = index_.at(name);
  steps_[step].job = job;
  steps_[step].reused = true;
  steps_[step].outputs = outputs;
  settle(step, Phase::completed);
}

void Steps::skipped(const std::string& name, const Why& why) {
  const std::size_t step = index_.at(name);
  steps_[step].why = why;
  settle(step, Phase::skipped);
}

std::vector<JobId> Steps::jobs() const {
  std::vector<JobId> jobs;
  for (const Step& step : steps_)
    if (!step.job.value.empty() && !step.reused) jobs.push_back(step.job);
  return jobs;
}

void Steps::settle(std::size_t step, Phase phase) {
  steps_[step].phase = phase;
  for (std::set<std::size_t>* set : {&waiting_, &ready_, &hopeless_, &running_}) set->erase(step);
  --open_;
  if (phase == Phase::failed && !first_failed_) first_failed_ = step;
  if (phase != Phase::completed) unsuccessful_ = true;
  for (const std::size_t next : dependents_[step]) {
    if (waiting_.count(next) == 0) continue;
    if (phase != Phase::completed) {
      hopeless_.insert(next);
      if (!steps_[next].cause) steps_[next].cause = steps_[step].cause.value_or(step);
    } else if (--steps_[next].missing == 0) {
      ready_.insert(next);
    }
  }
  if (finalizer_ && open_ == 1 && waiting_.count(*finalizer_) != 0) ready_.insert(*finalizer_);
}

}  // namespace lockstep::launcher
