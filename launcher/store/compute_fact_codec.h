#pragma once
// Facts about compute targets, in the journal.

#include "launcher/core/computes.h"
#include "proto/journal.pb.h"

namespace lockstep::pb {

void to_wire(const launcher::ComputeCreated& from, ComputeChanged* to);
Status from_wire(const ComputeChanged& from, launcher::ComputeCreated* to);
void to_wire(const launcher::ComputeUpdated& from, ComputeChanged* to);
Status from_wire(const ComputeChanged& from, launcher::ComputeUpdated* to);
void to_wire(const launcher::ComputeDeleted& from, ComputeDeleted* to);
Status from_wire(const ComputeDeleted& from, launcher::ComputeDeleted* to);

}  // namespace lockstep::pb
