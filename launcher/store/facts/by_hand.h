#pragma once
// Codecs of facts whose tables do not describe everything, mostly because earlier versions wrote
// them otherwise. All others are written and read by their tables alone.

#include "common/wire/fields.h"
#include "launcher/state/facts/fact.h"
#include "proto/journal.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(launcher::NodeRevised, NodeRevised);
LOCKSTEP_CODEC(launcher::AttemptDoomed, AttemptDoomed);
LOCKSTEP_CODEC(launcher::AttemptEnded, AttemptEnded);
LOCKSTEP_CODEC(launcher::JobFinished, JobFinished);
LOCKSTEP_CODEC(launcher::FoundChanged, FoundChanged);
LOCKSTEP_CODEC(launcher::MachineCreated, MachineCreated);

}  // namespace lockstep::pb
