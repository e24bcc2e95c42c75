#include "runner/steps/step.h"

namespace lockstep::runner {

// A limit must hold from the first page and the first fork on; the joiner does the rest beside the
// start.
Status set_cgroups(const LaunchContext& context, RankLaunch& rank) {
  if (context.cgroups != nullptr)
    rank.process.cgroup_procs = context.cgroups->first_files(rank.local_rank);
  return {};
}

}  // namespace lockstep::runner
