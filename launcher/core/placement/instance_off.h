#pragma once
// Stopped compute instances: why the pool of one takes no job, and when schedules start and stop
// it. docs/decisions/047-compute-instances.md. Pure.

#include <optional>
#include <string>

#include "launcher/core/base/cluster.h"

namespace lockstep::launcher {

// Finds an instance; null: the target is not a compute instance, or is being deleted.
const Compute* instance_of(const State& state, const std::string& target);

struct Firing {
  Instant at;
  const InstanceSchedule* schedule = nullptr;
};

// The next time at which one of the schedules does this action; nullopt: none does.
std::optional<Firing> next_firing(const CoreConfig& config, const Compute& compute, Instant now,
                                  bool (*is_wanted)(InstanceAction action));

// Why no job of the pool can start: its compute instance is stopped. None: it is not stopped, or
// the pool belongs to another type of target.
Why why_off(const Cluster& cluster, const std::string& pool);

}  // namespace lockstep::launcher
