#pragma once
// Evaluates quotas: whether a submission is accepted, whether a waiting job may be placed now, and
// what is shown about them. Pure functions over State. A job beyond its quota waits and does not
// block the jobs behind it. Lowering a quota stops no running job.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/core/placement/placement.h"

namespace lockstep::launcher {

// The resources that a job would hold once it is placed.
struct Demand {
  std::int64_t nodes = 0, cpus = 0, gpus = 0;
  friend auto operator<=>(const Demand&, const Demand&) = default;
};
// The least that the job would hold on any of the existing nodes. A request without a number of
// cpus or gpus takes all of them on its nodes.
Demand least_demand(const State& state, const JobSpec& spec);
Demand demand_of(const Placed& placed);

// The limit of a user or project: the one that was set, else the default. nullopt: unlimited.
std::optional<std::uint64_t> limit_of(const Cluster& cluster, const QuotaHolder& holder,
                                      QuotaLimit limit);

// Returns a resource_exhausted error if too much is queued already, or if the quotas would never
// let the job be placed on any node that its target has or makes. It names the quota, its value,
// its use, and who may change it. `snapshot` is the size of the job's source, `sources` are the
// files that would be kept on the launcher for it.
std::optional<Error> refused_by_quota(const Cluster& cluster, const JobSpec& spec, Bytes snapshot,
                                      const std::vector<JobSource>& sources);
// The reason why the launcher takes no more logs, outputs and checkpoints of a running job: the
// files of its owner's or its project's jobs have reached a quota. "": it takes them. `more`: the
// number of bytes about to be sent.
std::string why_no_more_files(const Cluster& cluster, const JobSpec& spec, std::uint64_t more = 0);
// The number of bytes that the files of such a job may still take; nullopt: as many as there is
// space for.
std::optional<std::uint64_t> room_for_files(const Cluster& cluster, const JobSpec& spec);
// The implementation of Core::whose_files().
std::string whose_files(const Cluster& cluster);
// Returns a resource_exhausted error if the job's texts would exceed a quota.
std::optional<Error> refused_by_quota_of_texts(const Cluster& cluster, const JobSpec& before,
                                               const JobSpec& after);
// Why a job with this demand is not placed now; none: it is within its quotas.
Why over_quota(const State& state, const JobSpec& spec, const Demand& demand);

QuotaView quota_view(const Cluster& cluster, const QuotaHolder& holder);

}  // namespace lockstep::launcher
