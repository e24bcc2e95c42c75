#include "launcher/cli/text/differences/pipeline_difference.h"

#include <map>
#include <string_view>

#include "launcher/cli/text/pipeline_view.h"

namespace lockstep::cli {
namespace {

std::map<std::string_view, StepSide> sides_of(const JobView& job) {
  std::map<std::string_view, StepSide> sides;
  if (job.spec.pipeline)
    for (const PipelineStep& step : job.spec.pipeline->steps) sides[step.name].step = &step;
  for (const StepView& view : job.steps) sides[view.name].view = &view;
  return sides;
}

Json state_of(const StepSide& side) { return side ? Json(step_state(*side.view)) : Json(nullptr); }

std::string_view word_of(StepRole role) {
  switch (role) {
    case StepRole::main: return "main";
    case StepRole::on_init: return "on_init";
    case StepRole::on_finalize: return "on_finalize";
  }
  return "";
}

// The step's job as the pipeline file defines it, without values that were set when it began.
JobView job_of(const StepSide& side, const JobView* job) {
  JobView whole = job == nullptr ? JobView{} : *job;
  whole.spec = side.step->spec;
  return whole;
}

}  // namespace

std::vector<StepPair> pairs_of(const JobView& a, const JobView& b) {
  const auto in_a = sides_of(a), in_b = sides_of(b);
  std::vector<StepPair> pairs;
  for (const StepView& view : a.steps) {
    const auto other = in_b.find(view.name);
    pairs.push_back(
        {view.name, in_a.at(view.name), other == in_b.end() ? StepSide{} : other->second});
  }
  for (const StepView& view : b.steps)
    if (!in_a.contains(view.name)) pairs.push_back({view.name, {}, in_b.at(view.name)});
  return pairs;
}

std::vector<FieldDifference> differences_of(const StepPair& pair, const JobView* a_job,
                                            const JobView* b_job) {
  std::vector<FieldDifference> all;
  if (!pair.a || !pair.b) {
    all.push_back({"", state_of(pair.a), state_of(pair.b)});
    return all;
  }
  const bool has_jobs = a_job != nullptr && b_job != nullptr;
  all = differences_of(job_of(pair.a, has_jobs ? a_job : nullptr),
                       job_of(pair.b, has_jobs ? b_job : nullptr));
  std::erase_if(all, [](const FieldDifference& field) { return field.key == "results.status"; });
  if (pair.a.step->role != pair.b.step->role)
    all.push_back({"role", word_of(pair.a.step->role), word_of(pair.b.step->role)});
  if (state_of(pair.a) != state_of(pair.b))
    all.push_back({"results.status", state_of(pair.a), state_of(pair.b)});
  return all;
}

}  // namespace lockstep::cli
