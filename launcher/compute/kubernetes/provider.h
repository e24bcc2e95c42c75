#pragma once
// The kubernetes provider: each machine is a pod. docs/decisions/048-kubernetes.md.

#include "launcher/compute/contract.h"

namespace lockstep::compute::kubernetes {

// Carries out a request, like docker::carry_out. `create` ends while pods wait for the scheduler:
// their machines are `pending`.
Result<int> carry_out(Verb verb, const Request& request, Events& events);

}  // namespace lockstep::compute::kubernetes
