#pragma once
// The slurm provider: each machine is a job of one node in which the agent runs.
// docs/decisions/038-providers.md.

#include "launcher/compute/contract.h"

namespace lockstep::compute::slurm {

// Carries out a request, like docker::carry_out. `create` ends while jobs wait in Slurm's queue:
// their machines are `pending`.
Result<int> carry_out(Verb verb, const Request& request, Events& events);

}  // namespace lockstep::compute::slurm
