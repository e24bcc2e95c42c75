#include "runner/steps/step.h"

namespace lockstep::runner {

// Limits must hold from the first page and the first fork on. Other cgroups are joined while the
// rank starts.
Status set_cgroups(const LaunchContext& context, RankLaunch& rank) {
  if (context.cgroups != nullptr)
    rank.process.cgroup_procs = context.cgroups->first_files(rank.local_rank);
  return {};
}

}  // namespace lockstep::runner
