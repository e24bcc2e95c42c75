#pragma once
// Which cpus a rank may use. If there are at least as many cpus as ranks, each rank gets its own
// contiguous share; otherwise all ranks share the whole allotment and are told to yield
// (GangContext::oversubscribed).

#include <string>
#include <vector>

namespace lockstep::runner {

// The allotted cpus that this process may use, ordered so that hardware threads of one core, and
// cores of one socket, are adjacent. `topology`: /sys/devices/system/cpu, or a fake of it.
std::vector<int> usable_cpus(const std::vector<int>& allotment,
                             const std::string& topology = "/sys/devices/system/cpu");

// The share of local rank `index` of `ranks`; empty when there are more ranks than cpus.
std::vector<int> share_of(const std::vector<int>& cpus, int index, int ranks);

}  // namespace lockstep::runner
