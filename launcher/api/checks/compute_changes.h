#pragma once
// Finds the keys of a target that an update changes, for the audit log: names alone, since only
// admins may see some values.

#include <string>

#include "common/domain/targets/compute.h"

namespace lockstep::launcher {

// "max_instances, lockstep.docker.image, hosts (added vm3; removed vm1)"; "nothing" if they are
// equal.
std::string changed_keys(const ComputeSpec& before, const ComputeSpec& after);

}  // namespace lockstep::launcher
