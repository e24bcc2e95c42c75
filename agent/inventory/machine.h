#pragma once
// Which machine this is, and whether the node is said to be a part of it.

#include "agent/inventory/inventory.h"
#include "common/domain/targets/machine_part.h"

namespace lockstep::agent {

MachinePart probe_machine(const Share& share);

}  // namespace lockstep::agent
