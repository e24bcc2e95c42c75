#include "launcher/cli/verbs/submit/pipeline_resume.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "common/domain/job/array.h"
#include "launcher/cli/transfer/download.h"

namespace lockstep::cli {
namespace {

bool is_done(const StepView& step) {
  return step.phase == StepPhase::completed || step.phase == StepPhase::reused;
}

std::map<std::string_view, const StepView*> by_name(const JobView& job) {
  std::map<std::string_view, const StepView*> steps;
  for (const StepView& step : job.steps) steps[step.name] = &step;
  return steps;
}

// The text of the remaining tasks. A single task of a thousand may be left: "7", or "7%4" with the
// array's bound.
std::string text_of(const PipelineSpec& tasks) {
  std::string text;
  for (const PipelineStep& task : tasks.steps) text += (text.empty() ? "" : ",") + task.name;
  if (tasks.at_most > 0) text += fmt::format("%{}", tasks.at_most);
  return text;
}

// The tasks that did not complete, not yet with their checkpoints: "3,7%4" of "0-9%4".
Result<PipelineSpec> tasks_to_resume(const JobView& array) {
  PipelineSpec tasks = *array.spec.pipeline;
  const auto steps = by_name(array);
  std::erase_if(tasks.steps, [&](const PipelineStep& task) {
    const auto view = steps.find(task.name);
    return view != steps.end() && is_done(*view->second);
  });
  if (tasks.steps.empty())
    return make_error(ErrorCode::conflict,
                      fmt::format("all tasks of array '{}' have completed; there is none to resume",
                                  array.spec.name));
  if (std::string text = text_of(tasks); text.size() <= kMaxArrayTextBytes)
    tasks.array = std::move(text);
  return tasks;
}

void wait_for_nothing(QueueSettings& queue) {
  queue.after.clear();
  queue.not_before = {};
}

}  // namespace

void wait_for_nothing(JobSpec& spec) {
  wait_for_nothing(spec.queue);
  if (!spec.pipeline) return;
  PipelineSpec pipeline = *spec.pipeline;
  for (PipelineStep& step : pipeline.steps) wait_for_nothing(step.spec.queue);
  spec.pipeline = std::move(pipeline);
}

Result<PipelineSpec> steps_to_resume(Connection& connection, const JobView& job) {
  PipelineSpec pipeline = *job.spec.pipeline;
  if (!pipeline.array.empty()) {
    TRY_ASSIGN(pipeline, tasks_to_resume(job));
  }
  const auto steps = by_name(job);
  for (PipelineStep& step : pipeline.steps) {
    const auto view = steps.find(step.name);
    if (view == steps.end() || is_done(*view->second) || view->second->job.value.empty()) continue;
    TRY_ASSIGN(const JobReply reply, connection.ask_for<JobReply>(ShowJob{view->second->job}));
    if (newest_with_checkpoint(reply.job) != nullptr)
      step.spec.from_checkpoint_of = view->second->job;
  }
  return pipeline;
}

}  // namespace lockstep::cli
