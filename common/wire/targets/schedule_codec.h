#pragma once
// Codecs of compute instances: their schedules, and what they do.

#include "common/domain/targets/compute.h"
#include "common/wire/fields.h"
#include "proto/compute.pb.h"

namespace lockstep::pb {

int number_of(InstanceCause cause);
Status read_cause(int number, InstanceCause* to);
void to_wire(const lockstep::InstanceSchedule& from, InstanceSchedule* to);
Status from_wire(const InstanceSchedule& from, lockstep::InstanceSchedule* to);
void to_wire(const lockstep::InstanceView& from, InstanceView* to);
Status from_wire(const InstanceView& from, lockstep::InstanceView* to);

}  // namespace lockstep::pb
