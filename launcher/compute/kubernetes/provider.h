#pragma once
// The kubernetes provider: each machine is a pod. docs/decisions/048-kubernetes.md.

#include "launcher/compute/contract.h"

namespace lockstep::compute::kubernetes {

// As docker::carry_out. `create` ends while the scheduler lets pods wait: their machines are
// `pending`.
Result<int> carry_out(Verb verb, const Request& request, Events& events);

}  // namespace lockstep::compute::kubernetes
