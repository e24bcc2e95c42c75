#pragma once
// A pipeline: a job whose steps are jobs of their own. Nested pipelines and components are resolved
// by launcher/files, so that all steps are in one flat list (docs/decisions/051-pipelines.md). The
// launcher submits each step when those that it needs have completed.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/table.h"
#include "common/domain/job/array.h"
#include "common/domain/job/spec.h"

namespace lockstep {

// A data input of a step that is an output of another step.
struct StepBinding {
  std::string input;   // name of the entry in the step's `spec.data`, which has no tree
  std::string step;    // name of the other step
  std::string output;  // the name of its output
  static void table(auto& s, auto&& see) {
    see(field<1>, "input", s.input);
    see(field<2>, "step", s.step, {.bytes = kMaxStepNameBytes});
    see(field<3>, "output", s.output);
  }
  friend bool operator==(const StepBinding&, const StepBinding&) = default;
};

enum class StepRole {
  main,
  on_init,      // all other steps wait until it has completed
  on_finalize,  // runs when all other steps have ended, also after a failure
};
Word describe(StepRole role);

struct PipelineStep {
  std::string name;  // unique in the pipeline; "prepare", in a nested pipeline "outer.prepare"
  // The job that it becomes. Without name, submitter and account; `parent` and `step` are empty.
  JobSpec spec;
  std::vector<StepBinding> bindings;
  StepRole role = StepRole::main;
  bool reuse = true;  // false: the step runs, even if a job with the same content has completed
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, {.bytes = kMaxStepNameBytes});
    see(field<2>, "spec", s.spec);
    see(field<3>, "bindings", s.bindings, {.count = kMaxDataInputs});
    see(field<4>, "role", s.role);
    see(field<5>, "reuse", s.reuse);
  }
  static Status check(const PipelineStep& step);
  friend bool operator==(const PipelineStep&, const PipelineStep&) = default;
};

// An output of the pipeline is an output of one of its steps.
struct PipelineOutput {
  std::string name;
  std::string step, output;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "step", s.step, {.bytes = kMaxStepNameBytes});
    see(field<3>, "output", s.output);
  }
  friend bool operator==(const PipelineOutput&, const PipelineOutput&) = default;
};

struct PipelineSpec {
  // ordered so that each comes after the steps to which it is bound
  std::vector<PipelineStep> steps;
  std::vector<PipelineOutput> outputs;
  // Whether the steps that do not need a failed step still run; false: no further step starts.
  bool continue_on_step_failure = true;
  // If it is a job array: as it was written, "0-19%4". Its steps are named after their indices.
  std::string array = {};
  int at_most = 0;  // the most steps that run at the same time; 0: as many as the launcher allows
  static void table(auto& s, auto&& see) {
    see(field<1>, "steps", s.steps, {.count = kMaxPipelineSteps});
    see(field<2>, "outputs", s.outputs, {.count = kMaxOutputs});
    see(field<3>, "continue_on_step_failure", s.continue_on_step_failure);
    see(field<4>, "array", s.array, {.bytes = kMaxArrayTextBytes});
    see(field<5>, "at_most", s.at_most, kArrayIndexRule);
  }
  friend bool operator==(const PipelineSpec&, const PipelineSpec&) = default;
};

// The pipeline whose steps are the tasks of `array`.
JobSpec as_array(const JobSpec& task, const ArraySpec& array);

// Names, and that each binding refers to an input of its step and an output of an earlier step.
// Each step's spec is checked as validate(JobSpec) does. Errors begin with "jobs.STEP".
Status validate(const PipelineSpec& pipeline);

}  // namespace lockstep
