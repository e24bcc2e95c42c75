#pragma once
// Watches a pipeline to its end, as Follower does for one job: the logs of all its steps, each line
// with the step's name before it, and what became of each step. It asks the steps for their logs in
// turn, from the offsets that it knows, so a broken connection costs a repeated question and
// neither loses nor doubles a line. It starts no job and prints no final report.

#include "launcher/cli/follow/follower.h"

namespace lockstep::cli {

class PipelineFollower {
 public:
  // Follows a pipeline. Not used are single_log of `options`, and attempt and node_rank of its
  // filter.
  PipelineFollower(Connection& connection, Terminal& terminal, Follower::FindEndpoint find_endpoint,
                   FollowOptions options);
  ~PipelineFollower();
  // Signals as for Follower::run.
  Result<FollowEnd> run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::cli
