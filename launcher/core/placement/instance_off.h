#pragma once
// A compute instance that is stopped, or will be started or stopped by its schedules: why its pool
// takes no job. docs/decisions/047-compute-instances.md. Pure.

#include <optional>
#include <string>

#include "launcher/core/base/cluster.h"

namespace lockstep::launcher {

// Null: the target is no compute instance, or is being deleted.
const Compute* instance_of(const State& state, const std::string& target);

struct Firing {
  Instant at;
  const InstanceSchedule* schedule = nullptr;
};

// The next time of a schedule of this action.
std::optional<Firing> next_firing(const CoreConfig& config, const Compute& compute, Instant now,
                                  bool (*is_wanted)(InstanceAction action));

// Why no job of the pool can start: its compute instance is stopped. None: it is not, or the pool
// is of another type.
Why why_off(const Cluster& cluster, const std::string& pool);

}  // namespace lockstep::launcher
