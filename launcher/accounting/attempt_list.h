#pragma once
// Attempts one by one, as sacct lists them. Pure.

#include <span>
#include <string>

#include "launcher/accounting/attempt_use.h"
#include "launcher/accounting/grid.h"

namespace lockstep::launcher {

// As Slurm writes it: "01:02:03", "1-02:03:04".
std::string slurm_time(Duration time);

// For people: job, user, target, state, exit code, nodes, cpus, GPUs, memory, wait, elapsed and cpu
// time.
Grid attempt_table(std::span<const AttemptUse> attempts, Instant now);

// For programs: all that is known, in seconds, bytes and times of RFC 3339. Empty: unknown, or not
// yet.
Grid attempt_cells(std::span<const AttemptUse> attempts, Instant now);

}  // namespace lockstep::launcher
