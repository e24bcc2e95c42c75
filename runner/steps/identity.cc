#include "runner/steps/step.h"

namespace lockstep::runner {

Status set_identity(const LaunchContext& context, RankLaunch& rank) {
  if (!context.become_run_as) return {};
  const io::User& user = context.gang->run_as;
  rank.process.set_ids = true;
  rank.process.uid = user.uid;
  rank.process.gid = user.gid;
  rank.process.groups = user.groups;
  return {};
}

}  // namespace lockstep::runner
