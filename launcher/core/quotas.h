#pragma once
// Evaluates quotas: whether a submission is accepted, whether a waiting job may be placed now, and
// what is shown about them. Pure functions over State. A job beyond its quota waits and does not
// block the jobs behind it. Lowering a quota stops no running job.

#include <cstdint>
#include <optional>
#include <string>

#include "launcher/core/placement.h"

namespace lockstep::launcher {

// What a job would hold, once placed.
struct Demand {
  std::int64_t nodes = 0, cpus = 0, gpus = 0;
  friend auto operator<=>(const Demand&, const Demand&) = default;
};
// On any of the nodes that there are, at least: a request without a number of cpus or gpus takes
// all that its nodes have.
Demand least_demand(const State& state, const JobSpec& spec);
Demand demand_of(const Placed& placed);

// Of a user or project: what was set, or what holds by default. nullopt: nothing.
std::optional<std::uint64_t> limit_of(const Cluster& cluster, const QuotaHolder& holder,
                                      QuotaLimit limit);

// resource_exhausted, with the quota, its value, what is used, and who may change it: too much
// waits already, or the job could never be placed. `snapshot`: of its source.
std::optional<Error> refused_by_quota(const Cluster& cluster, const JobSpec& spec, Bytes snapshot);
// Does somebody limit the size of such a job's source?
bool limits_snapshot(const State& state, const JobSpec& spec);

// Why a job that would hold so much is not placed now; nullopt: within its quotas.
std::optional<std::string> over_quota(const State& state, const JobSpec& spec,
                                      const Demand& demand);

QuotaView quota_view(const Cluster& cluster, const QuotaHolder& holder);

}  // namespace lockstep::launcher
