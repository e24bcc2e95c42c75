#pragma once
// What happens to one rank before it starts: a fixed list of steps, one concern each, in one
// visible array (launch_steps.cc). A step reads the node's LaunchContext and writes into the rank's
// process; it starts nothing, and touches nothing of another rank.

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/cgroups.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/spawn/client.h"

namespace lockstep::runner {

// What all ranks of this node share. Lives longer than any launch.
struct LaunchContext {
  const GangContext* gang = nullptr;
  std::string directory;  // the working directory, as the ranks see it
  std::vector<int> cpus;  // what the ranks may use, neighbours of one core side by side
  const io::Cgroups* cgroups = nullptr;             // null: this node has none
  bool become_run_as = false;                       // we are root: ids are changed to gang->run_as
  const Container* container = nullptr;             // the ranks run in one
  std::map<std::string, std::string> outputs = {};  // named output -> its path for the ranks
  SecretValues secrets = {};                        // of those that the job names
};

struct RankLaunch {
  int rank = 0;
  int local_rank = 0;
  Bootstrap::RankVariables bootstrap;
  spawn::RankProcess process;  // what the steps fill
};

struct LaunchStep {
  const char* name;
  Status (*apply)(const LaunchContext& context, RankLaunch& rank);
};

// Runs every step, in order. An error names the step.
Status prepare_launch(const LaunchContext& context, RankLaunch& rank);

// The steps. environment comes before command: the PATH it makes is where the program is looked up.
Status set_environment(const LaunchContext& context, RankLaunch& rank);
Status set_command(const LaunchContext& context, RankLaunch& rank);
Status set_identity(const LaunchContext& context, RankLaunch& rank);
Status set_binding(const LaunchContext& context, RankLaunch& rank);
Status set_rlimits(const LaunchContext& context, RankLaunch& rank);
Status set_cgroups(const LaunchContext& context, RankLaunch& rank);

}  // namespace lockstep::runner
