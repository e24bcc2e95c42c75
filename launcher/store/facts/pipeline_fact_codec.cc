#include "launcher/store/facts/pipeline_fact_codec.h"

#include "common/wire/job/job_codec.h"
#include "common/wire/why_codec.h"

namespace lockstep::pb {

void to_wire(const launcher::OutputsMerged& from, OutputsMerged* to) {
  to->set_job(from.job.value);
  write_list(from.outputs, to->mutable_outputs());
}
Status from_wire(const OutputsMerged& from, launcher::OutputsMerged* to) {
  TRY(read_text(from.job(), "merged.job", &to->job.value));
  return read_list(from.outputs(), kMaxOutputs, "merged.outputs", &to->outputs);
}

void to_wire(const launcher::OutputWritten& from, OutputWritten* to) {
  to->set_job(from.job.value);
  to->set_output(from.output);
}
Status from_wire(const OutputWritten& from, launcher::OutputWritten* to) {
  TRY(read_text(from.job(), "written.job", &to->job.value));
  return read_text(from.output(), "written.output", &to->output);
}

void to_wire(const launcher::OutputNotWritten& from, OutputNotWritten* to) {
  to->set_job(from.job.value);
  to->set_output(from.output);
  to->set_tries(from.tries);
  if (from.why) to_wire(from.why, to->mutable_why_data());
  to->set_again_ns(from.again.ns);
}
Status from_wire(const OutputNotWritten& from, launcher::OutputNotWritten* to) {
  TRY(read_text(from.job(), "not_written.job", &to->job.value));
  TRY(read_text(from.output(), "not_written.output", &to->output));
  to->tries = from.tries();
  TRY(read_why(from.why(), from.has_why_data(), from.why_data(), "not_written.why", &to->why));
  return read_instant(from.again_ns(), "not_written.again", &to->again);
}

void to_wire(const launcher::StepReused& from, StepReused* to) {
  to->set_job(from.job.value);
  to->set_step(from.step);
  to->set_from(from.from.value);
  write_list(from.outputs, to->mutable_outputs());
}
Status from_wire(const StepReused& from, launcher::StepReused* to) {
  TRY(read_text(from.job(), "reused.job", &to->job.value));
  TRY(read_text(from.step(), "reused.step", &to->step));
  TRY(read_text(from.from(), "reused.from", &to->from.value));
  return read_list(from.outputs(), kMaxOutputs, "reused.outputs", &to->outputs);
}

void to_wire(const launcher::StepSkipped& from, StepSkipped* to) {
  to->set_job(from.job.value);
  to->set_step(from.step);
  if (from.why) to_wire(from.why, to->mutable_why_data());
}
Status from_wire(const StepSkipped& from, launcher::StepSkipped* to) {
  TRY(read_text(from.job(), "skipped.job", &to->job.value));
  TRY(read_text(from.step(), "skipped.step", &to->step));
  if (from.has_why_data()) return from_wire(from.why_data(), &to->why);
  std::string text;
  TRY(read_text(from.why(), "skipped.why", &text));
  to->why = told(std::move(text));
  return {};
}

}  // namespace lockstep::pb
