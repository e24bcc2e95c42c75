#pragma once
// The facts of pipelines and of merged outputs, to and from proto/journal.proto. See
// common/wire/fields.h.

#include "common/base/result.h"
#include "launcher/state/facts/fact.h"
#include "proto/journal.pb.h"

namespace lockstep::pb {

void to_wire(const launcher::OutputsMerged& from, OutputsMerged* to);
Status from_wire(const OutputsMerged& from, launcher::OutputsMerged* to);

void to_wire(const launcher::OutputWritten& from, OutputWritten* to);
Status from_wire(const OutputWritten& from, launcher::OutputWritten* to);

void to_wire(const launcher::OutputNotWritten& from, OutputNotWritten* to);
Status from_wire(const OutputNotWritten& from, launcher::OutputNotWritten* to);

void to_wire(const launcher::StepReused& from, StepReused* to);
Status from_wire(const StepReused& from, launcher::StepReused* to);

void to_wire(const launcher::StepSkipped& from, StepSkipped* to);
Status from_wire(const StepSkipped& from, launcher::StepSkipped* to);

}  // namespace lockstep::pb
