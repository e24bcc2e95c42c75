#pragma once
// Codecs of compute instances: their schedules and actions.

#include "common/domain/targets/compute.h"
#include "common/wire/fields.h"
#include "proto/compute.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::InstanceSchedule, InstanceSchedule);
LOCKSTEP_CODEC(lockstep::InstanceView, InstanceView);

}  // namespace lockstep::pb
