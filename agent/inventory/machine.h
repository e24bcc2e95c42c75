#pragma once
// Identifies this machine, and tells whether the node may run as a part of a cloud machine.

#include "agent/inventory/inventory.h"
#include "common/domain/targets/machine_part.h"

namespace lockstep::agent {

MachinePart probe_machine(const Share& share);

}  // namespace lockstep::agent
