// Pipelines and the outputs of their steps: of job_codec.h.

#include "common/domain/job/pipeline.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/table_codec.h"
#include "proto/job.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::MergedOutput, MergedOutput);
void to_wire(const lockstep::StepBinding& from, StepBinding* to) {
  to->set_input(from.input);
  to->set_step(from.step);
  to->set_output(from.output);
}
Status from_wire(const StepBinding& from, lockstep::StepBinding* to) {
  TRY(read_text(from.input(), "binding.input", &to->input));
  TRY(read_text(from.step(), "binding.step", &to->step, kMaxStepNameBytes));
  return read_text(from.output(), "binding.output", &to->output);
}

void to_wire(const lockstep::PipelineStep& from, PipelineStep* to) {
  to->set_name(from.name);
  to_wire(from.spec, to->mutable_spec());
  write_list(from.bindings, to->mutable_bindings());
  to->set_role(wire_enum<StepRole>(from.role));
  to->set_reuse(from.reuse);
}
Status from_wire(const PipelineStep& from, lockstep::PipelineStep* to) {
  TRY(read_text(from.name(), "step.name", &to->name, kMaxStepNameBytes));
  if (from.spec().has_pipeline()) return bad_field("step.spec", "is a pipeline");
  TRY(from_wire(from.spec(), &to->spec));
  TRY(read_list(from.bindings(), kMaxDataInputs, "step.bindings", &to->bindings));
  TRY(read_enum(from.role(), lockstep::StepRole::on_finalize, "step.role", &to->role));
  to->reuse = from.reuse();
  return {};
}

void to_wire(const lockstep::ArrayTask& from, ArrayTask* to) {
  to->set_index(from.index);
  to->set_count(from.count);
  to->set_first(from.first);
  to->set_last(from.last);
}
Status from_wire(const ArrayTask& from, lockstep::ArrayTask* to) {
  TRY(read_number(from.index(), 0, kMaxArrayIndex, "array.index", &to->index));
  TRY(read_number(from.count(), 0, kMaxArrayIndex, "array.count", &to->count));
  TRY(read_number(from.first(), 0, kMaxArrayIndex, "array.first", &to->first));
  return read_number(from.last(), 0, kMaxArrayIndex, "array.last", &to->last);
}

void to_wire(const lockstep::PipelineOutput& from, PipelineOutput* to) {
  to->set_name(from.name);
  to->set_step(from.step);
  to->set_output(from.output);
}
Status from_wire(const PipelineOutput& from, lockstep::PipelineOutput* to) {
  TRY(read_text(from.name(), "output.name", &to->name));
  TRY(read_text(from.step(), "output.step", &to->step, kMaxStepNameBytes));
  return read_text(from.output(), "output.output", &to->output);
}

void to_wire(const lockstep::PipelineSpec& from, PipelineSpec* to) {
  write_list(from.steps, to->mutable_steps());
  write_list(from.outputs, to->mutable_outputs());
  to->set_continue_on_step_failure(from.continue_on_step_failure);
  to->set_array(from.array);
  to->set_at_most(from.at_most);
}
// What of it must fit together, validate() says.
Status from_wire(const PipelineSpec& from, lockstep::SharedPipeline* to) {
  lockstep::PipelineSpec pipeline;
  TRY(read_list(from.steps(), kMaxPipelineSteps, "pipeline.steps", &pipeline.steps));
  TRY(read_list(from.outputs(), kMaxOutputs, "pipeline.outputs", &pipeline.outputs));
  pipeline.continue_on_step_failure = from.continue_on_step_failure();
  TRY(read_text(from.array(), "pipeline.array", &pipeline.array, kMaxArrayTextBytes));
  TRY(read_number(from.at_most(), 0, kMaxArrayIndex, "pipeline.at_most", &pipeline.at_most));
  *to = std::move(pipeline);
  return {};
}

}  // namespace lockstep::pb
