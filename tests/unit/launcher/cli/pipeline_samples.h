#pragma once
// Pipelines in the middle of their work, for tests of what people see.

#include "common/domain/job/pipeline.h"
#include "common/domain/why/jobs/steps.h"
#include "tests/unit/launcher/cli/samples.h"

namespace lockstep::cli {

inline StepView sample_step(const std::string& name, StepPhase phase) {
  StepView step;
  step.name = name;
  step.phase = phase;
  const bool has_job = phase != StepPhase::waiting && phase != StepPhase::skipped;
  if (has_job) step.job = JobId("p_" + name);
  if (phase == StepPhase::running) step.status = JobStatus::running;
  if (phase == StepPhase::completed) step.status = JobStatus::completed;
  if (phase == StepPhase::failed) step.status = JobStatus::failed;
  if (has_job && phase != StepPhase::reused) step.started = kNoon + seconds(1);
  if (step.status && is_final(*step.status)) step.ended = kNoon + seconds(4);
  return step;
}

inline JobView sample_pipeline() {
  JobView job;
  job.spec.name = "p";
  job.spec.submitter = "ada";
  job.spec.experiment_name = "handwriting";
  PipelineSpec pipeline;
  pipeline.outputs = {{"model", "nested.train", "weights"}};
  job.spec.pipeline = pipeline;
  job.status = JobStatus::running;
  job.reason = "1 step runs, 1 wait; step 'check' failed";
  job.submitted = kNoon;
  job.steps = {sample_step("prepare", StepPhase::reused),
               sample_step("nested.train", StepPhase::running),
               sample_step("nested.score", StepPhase::waiting),
               sample_step("check", StepPhase::failed), sample_step("publish", StepPhase::skipped)};
  job.steps[0].job = JobId("old_prepare");
  job.steps[1].job = JobId("p_nested_train");
  job.steps[2].after = {"nested.train"};
  job.steps[2].reason = "waits for nested.train";
  job.steps[3].reason = "rank 0 on local-0 exited with code 3";
  job.steps[4].reason = "step 'check' failed, whose output 'good' is its input 'data'";
  return job;
}

inline JobView failed_pipeline() {
  JobView job = sample_pipeline();
  job.status = JobStatus::failed;
  job.ended = kNoon + seconds(9);
  job.steps[1] = sample_step("nested.train", StepPhase::completed);
  job.steps[2] = sample_step("nested.score", StepPhase::completed);
  ExitReport report;
  report.cause = Cause::exit_code;
  report.exit_code = 3;
  report.rank = 0;
  report.node_name = "local-0";
  report.message = "step 'check' (job p_check): rank 0 on local-0 exited with code 3";
  report.why = StepEndedBadly{"check", JobId("p_check"), told("exited with code 3")};
  job.report = report;
  job.reason = report.message;
  job.why = StepEndedBadly{"check", JobId("p_check"), told(job.steps[3].reason)};
  return job;
}

}  // namespace lockstep::cli
