#pragma once
// The variables by which a rank with GPUs can be asked what its NCCL does while it hangs: the
// address of RAS, one for each attempt and node, since all jobs of a node would share NCCL's own;
// names of NCCL's threads, which are busy whatever the rank does; and torch's flight recorder,
// which writes what was under way when a collective times out. The user's own values stay.

#include <optional>
#include <string>

namespace lockstep::runner {

struct GangContext;
class Variables;

void set_nccl_watch(const GangContext& gang, Variables* out);

// The ranks' NCCL_RAS_ADDR; nullopt: NCCL's default, or RAS is off.
std::optional<std::string> ras_address(const GangContext& gang);

// The beginning of the dumps' names, in the working directory as the ranks see it. Files below
// logs/ are kept with the job.
std::string nccl_dumps_below(const std::string& directory);

}  // namespace lockstep::runner
