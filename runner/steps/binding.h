#pragma once
// Chooses the cpus that a rank may use (lockstep.binding). If there are more ranks than cpus, all
// ranks share the whole allotment and are told to yield (GangContext::oversubscribed).

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/job/distribution.h"

namespace lockstep::runner {

// The allotted cpus that this process may use, ordered so that hardware threads of one core, and
// cores of one socket, are adjacent. `topology`: /sys/devices/system/cpu, or a fake of it.
std::vector<int> usable_cpus(const std::vector<int>& allotment,
                             const std::string& topology = "/sys/devices/system/cpu");

// The share of local rank `index` of `ranks`; empty when there are more ranks than cpus.
std::vector<int> share_of(const std::vector<int>& cpus, int index, int ranks);

// The cpus of each rank of this node. `cpus`: as usable_cpus has them. `machine`: a synthetic
// topology for tests (topology.h). An error: the topology cannot be read.
Result<std::vector<std::vector<int>>> bind_ranks(Binding binding, const std::vector<int>& cpus,
                                                 int ranks, const std::string& machine = "");

}  // namespace lockstep::runner
