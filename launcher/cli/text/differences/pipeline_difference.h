#pragma once
// What differs between the steps of two pipelines, which are paired by their names. Steps of nested
// pipelines are steps of the outermost one, with the names of the pipelines in front. Pure.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/job/pipeline.h"
#include "common/domain/messages/views.h"
#include "launcher/cli/text/differences/job_difference.h"

namespace lockstep::cli {

// A step as its pipeline has it.
struct StepSide {
  const PipelineStep* step = nullptr;  // null: the pipeline has no such step
  const StepView* view = nullptr;
  explicit operator bool() const { return step != nullptr && view != nullptr; }
};
struct StepPair {
  std::string name;
  StepSide a, b;
};

// The steps of both in the order of `a`, then those that only `b` has. The views must have been
// asked for with their steps (ShowJob::with_steps). The result refers to them.
std::vector<StepPair> pairs_of(const JobView& a, const JobView& b);

// A step that only one of them has: one field without a key, whose value there is the step's state.
// Else as for two jobs. `a_job` and `b_job` are the jobs whose results the steps have; null: the
// results of both are compared by their states alone.
std::vector<FieldDifference> differences_of(const StepPair& pair, const JobView* a_job,
                                            const JobView* b_job);

}  // namespace lockstep::cli
