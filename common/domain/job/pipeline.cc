#include "common/domain/job/pipeline.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/domain/data/data_reference.h"

namespace lockstep {
namespace {

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

// The steps before the one that is checked.
using Steps = std::map<std::string, const PipelineStep*>;

// Whether the text is a name such as "prepare" or "outer.prepare".
bool is_step_name(const std::string& name) {
  if (name.empty() || name.size() > kMaxStepNameBytes) return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    if (!valid_output_name(name.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

Status check_output(const Steps& steps, const std::string& step, const std::string& output) {
  const auto from = steps.find(step);
  if (from == steps.end()) return invalid("no earlier step is called '" + step + "'");
  const auto& outputs = from->second->spec.outputs;
  const bool is_there = std::any_of(outputs.begin(), outputs.end(),
                                    [&](const OutputSpec& one) { return one.name == output; });
  if (is_there || output == kArtifacts) return {};
  return invalid("step '" + step + "' has no output '" + output + "'");
}

Status check_bindings(const PipelineStep& step, const Steps& before) {
  std::set<std::string> bound;
  for (const StepBinding& binding : step.bindings) {
    const auto& data = step.spec.data;
    const auto input = std::find_if(
        data.begin(), data.end(), [&](const DataInput& one) { return one.name == binding.input; });
    const std::string where = "inputs." + binding.input;
    if (input == data.end())
      return invalid(where +
                     ": is bound to an output, but the step has no data input of this name");
    if (!bound.insert(binding.input).second) return invalid(where + ": is bound twice");
    if (input->mode == InputMode::direct)
      return invalid(where + ": an output of a step has no address; use ro_mount or download");
    if (input->tree || !input->file.empty() || input->place)
      return invalid(where + ": is bound, so it has no files of its own");
    const Status good = check_output(before, binding.step, binding.output);
    if (!good) return good.error().within(where);
    const bool is_main = before.at(binding.step)->role == StepRole::main;
    if (!is_main || step.role != StepRole::main)
      return invalid(where + ": steps of on_init and on_finalize are bound to no other step");
  }
  return {};
}

Status check_name(const PipelineStep& step, bool is_array) {
  if (is_array) {
    if (step.spec.array && step.name == std::to_string(step.spec.array->index)) return {};
    return invalid("the task of an array is named after its index");
  }
  if (!is_step_name(step.name))
    return invalid("'" + step.name.substr(0, 100) +
                   "' is not a step's name: letters, digits or '_', not starting with a digit, and "
                   "'.' between the names of nested pipelines; at most " +
                   std::to_string(kMaxStepNameBytes) + " bytes");
  return {};
}

Status check_step(const PipelineStep& step, const Steps& before, bool is_array) {
  TRY(check_name(step, is_array));
  if (before.count(step.name) != 0) return invalid("is named twice");
  if (step.spec.is_pipeline()) return invalid("the step of a pipeline must be a command job");
  // The tasks of an array wait for the same jobs as a single job would.
  const QueueSettings& queue = step.spec.queue;
  if (!is_array && (!queue.after.empty() || queue.delay != Duration{0} || queue.not_before.ns != 0))
    return invalid("a step begins when its inputs are there; it has no lockstep.after and no time");
  if (!step.spec.name.empty() || !step.spec.parent.value.empty() || !step.spec.step.empty())
    return invalid("a step's job is named by the launcher");
  if (step.spec.terminal != TerminalKind::none)
    return invalid(
        "lockstep.terminal: the steps of a pipeline and the tasks of an array have no terminal, "
        "since nobody waits for them; run that command as a job of its own");
  TRY(validate(step.spec));
  return check_bindings(step, before);
}

}  // namespace

SharedPipeline::SharedPipeline(PipelineSpec pipeline)
    : pipeline_(std::make_shared<const PipelineSpec>(std::move(pipeline))) {}

bool operator==(const SharedPipeline& a, const SharedPipeline& b) {
  return a.pipeline_ == b.pipeline_ || (a.pipeline_ && b.pipeline_ && *a.pipeline_ == *b.pipeline_);
}

JobSpec as_array(const JobSpec& task, const ArraySpec& array) {
  JobSpec whole;
  whole.name = task.name;
  whole.display_name = task.display_name;
  whole.experiment_name = task.experiment_name;
  whole.description = task.description;
  whole.tags = task.tags;
  whole.project = task.project;
  whole.compute = task.compute;
  PipelineSpec pipeline;
  pipeline.array = array.text;
  pipeline.at_most = array.at_most;
  for (const int index : array.indices) {
    PipelineStep step;
    step.name = std::to_string(index);
    step.reuse = false;
    step.spec = task;
    step.spec.name.clear();
    step.spec.project.clear();
    step.spec.array = ArrayTask{index, static_cast<int>(array.indices.size()),
                                array.indices.front(), array.indices.back()};
    pipeline.steps.push_back(std::move(step));
  }
  whole.pipeline = std::move(pipeline);
  return whole;
}

Status validate(const PipelineSpec& pipeline) {
  if (pipeline.steps.empty()) return invalid("jobs: the pipeline has no steps");
  if (pipeline.steps.size() > kMaxPipelineSteps)
    return invalid("jobs: there are " + std::to_string(pipeline.steps.size()) + " steps; at most " +
                   std::to_string(kMaxPipelineSteps) + " are possible");
  if (pipeline.at_most < 0 || pipeline.array.size() > kMaxArrayTextBytes)
    return invalid("array: is not a job array");
  Steps steps;
  for (const PipelineStep& step : pipeline.steps) {
    if (const Status good = check_step(step, steps, !pipeline.array.empty()); !good)
      return good.error().within("jobs." + step.name.substr(0, 100));
    steps.emplace(step.name, &step);
  }
  std::set<std::string> names;
  for (const PipelineOutput& output : pipeline.outputs) {
    const std::string where = "outputs." + output.name;
    if (!valid_output_name(output.name))
      return invalid(where + ": is not an output's name: 1 to " +
                     std::to_string(kMaxOutputNameBytes) +
                     " letters, digits or '_', not starting with a digit");
    if (!names.insert(output.name).second) return invalid(where + ": is named twice");
    const Status good = check_output(steps, output.step, output.output);
    if (!good) return good.error().within(where);
  }
  return {};
}

Word describe(StepRole role) {
  switch (role) {
    case StepRole::main: return {1, "main"};
    case StepRole::on_init: return {2, "on_init"};
    case StepRole::on_finalize: return {3, "on_finalize"};
  }
  return {};
}

Status PipelineStep::check(const PipelineStep& step) {
  if (!step.spec.is_pipeline()) return {};
  return make_error(ErrorCode::corrupt, "message field pipeline_step.spec: is a pipeline");
}

}  // namespace lockstep
