#include "launcher/core/pipelines/pipeline_invariants.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::launcher {
namespace {

using Phase = Steps::Phase;

class PipelineChecker {
 public:
  PipelineChecker(const State& state, const Job& job) : state_(state), job_(job) {}

  std::vector<std::string> run() {
    const auto& all = job_.steps->all();
    std::size_t open = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      check(job_.spec.pipeline->steps[i], all[i]);
      open += all[i].phase == Phase::waiting || all[i].phase == Phase::running ? 1 : 0;
    }
    expect(job_.steps->all_over() == (open == 0), "", "is over exactly when all its steps are");
    if (job_.finish() && job_.finish()->status == JobStatus::completed)
      expect(std::all_of(all.begin(), all.end(),
                         [](const Steps::Step& step) { return step.phase == Phase::completed; }),
             "", "is Completed only if all its steps are");
    if (job_.finish())
      expect(job_.steps->running().empty(), "", "is final only when no step runs any more");
    return std::move(violations_);
  }

 private:
  void expect(bool holds, const std::string& step, std::string_view message) {
    if (holds) return;
    violations_.push_back(fmt::format("pipeline {}{}: {}", job_.id.value,
                                      step.empty() ? "" : ", step " + step, message));
  }

  void check(const PipelineStep& step, const Steps::Step& at) {
    const bool has_begun =
        at.phase == Phase::running || at.phase == Phase::completed || at.phase == Phase::failed;
    expect(has_begun == !at.job.value.empty(), step.name, "has a job exactly when it has begun");
    if (has_begun) check_begun(step, at);
    if (at.phase == Phase::skipped)
      expect(static_cast<bool>(at.why), step.name, "is not run for a reason that is told");
  }

  void check_begun(const PipelineStep& step, const Steps::Step& at) {
    for (const StepBinding& binding : step.bindings)
      expect(job_.steps->of(binding.step).phase == Phase::completed, step.name,
             "has begun after all steps that it needs have completed");
    const Job* own = state_.job(at.job);
    if (at.reused) return;
    expect(own != nullptr, step.name, "has a job that is there");
    if (own == nullptr) return;
    expect(own->spec.parent == job_.id && own->spec.step == step.name, step.name,
           "has a job that is its own");
    expect(own->is_final() == (at.phase != Phase::running), step.name,
           "runs exactly until its job is final");
    if (own->finish())
      expect((own->finish()->status == JobStatus::completed) == (at.phase == Phase::completed),
             step.name, "ended as its job did");
    if (at.phase == Phase::completed && !own->spec.outputs.empty())
      expect(own->merged.has_value(), step.name, "is Completed only with its outputs merged");
    check_inputs(step, own->spec);
  }

  void check_inputs(const PipelineStep& step, const JobSpec& spec) {
    for (const StepBinding& binding : step.bindings) {
      const auto input = std::find_if(spec.data.begin(), spec.data.end(),
                                      [&](const auto& one) { return one.name == binding.input; });
      const auto& outputs = job_.steps->of(binding.step).outputs;
      const auto output = std::find_if(outputs.begin(), outputs.end(),
                                       [&](const auto& one) { return one.name == binding.output; });
      expect(input != spec.data.end() && output != outputs.end() && input->tree == output->tree,
             step.name, "reads what the step before it wrote");
    }
  }

  const State& state_;
  const Job& job_;
  std::vector<std::string> violations_;
};

}  // namespace

std::vector<std::string> check_pipeline(const State& state, const Job& job) {
  return PipelineChecker(state, job).run();
}

bool is_known_to_pipeline(const State& state, const Job& job) {
  if (job.spec.step.empty()) return true;
  const Job* parent = state.job(job.spec.parent);
  return parent == nullptr || (parent->steps && parent->steps->of(job.spec.step).job == job.id);
}

}  // namespace lockstep::launcher
