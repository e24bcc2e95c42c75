#pragma once
// Facts about compute targets, in the journal.

#include "launcher/state/targets/computes.h"
#include "launcher/state/targets/machines.h"
#include "proto/journal.pb.h"

namespace lockstep::pb {

void to_wire(const launcher::ComputeCreated& from, ComputeChanged* to);
Status from_wire(const ComputeChanged& from, launcher::ComputeCreated* to);
void to_wire(const launcher::ComputeUpdated& from, ComputeChanged* to);
Status from_wire(const ComputeChanged& from, launcher::ComputeUpdated* to);
void to_wire(const launcher::ComputeDeleted& from, ComputeDeleted* to);
Status from_wire(const ComputeDeleted& from, launcher::ComputeDeleted* to);
void to_wire(const launcher::ComputeLeaving& from, ComputeLeaving* to);
Status from_wire(const ComputeLeaving& from, launcher::ComputeLeaving* to);
void to_wire(const launcher::InstanceStarted& from, InstanceChanged* to);
Status from_wire(const InstanceChanged& from, launcher::InstanceStarted* to);
void to_wire(const launcher::InstanceStopped& from, InstanceChanged* to);
Status from_wire(const InstanceChanged& from, launcher::InstanceStopped* to);
void to_wire(const launcher::MachineWanted& from, MachineWanted* to);
Status from_wire(const MachineWanted& from, launcher::MachineWanted* to);
void to_wire(const launcher::MachineFound& from, MachineFound* to);
Status from_wire(const MachineFound& from, launcher::MachineFound* to);
void to_wire(const launcher::MachineCreated& from, MachineCreated* to);
Status from_wire(const MachineCreated& from, launcher::MachineCreated* to);
void to_wire(const launcher::MachineFailed& from, MachineFailed* to);
Status from_wire(const MachineFailed& from, launcher::MachineFailed* to);
void to_wire(const launcher::MachineLeaving& from, MachineLeaving* to);
Status from_wire(const MachineLeaving& from, launcher::MachineLeaving* to);
void to_wire(const launcher::MachineGone& from, MachineGone* to);
Status from_wire(const MachineGone& from, launcher::MachineGone* to);

}  // namespace lockstep::pb
