#pragma once
// Which keys of a target an update changes, for the audit log: names alone, since a value may be
// something that only admins may see.

#include <string>

#include "common/domain/targets/compute.h"

namespace lockstep::launcher {

// "max_instances, lockstep.docker.image, hosts (added vm3; removed vm1)"; "nothing" if they are
// equal.
std::string changed_keys(const ComputeSpec& before, const ComputeSpec& after);

}  // namespace lockstep::launcher
