#pragma once
// The preparation of one rank before it starts: a fixed list of steps, one concern each, in one
// array (launch_steps.cc). A step reads the node's LaunchContext and fills in the rank's process;
// it starts nothing, and does not change other ranks.

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/cgroups/cgroups.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/spawn/client.h"

namespace lockstep::runner {

// The data that all ranks of this node share. Must outlive every launch.
struct LaunchContext {
  const GangContext* gang = nullptr;
  std::string directory;                            // the working directory, as the ranks see it
  std::vector<std::vector<int>> cpus;               // the cpus of each rank here, by local rank
  const io::Cgroups* cgroups = nullptr;             // null: this node has none
  bool become_run_as = false;                       // we are root: change ids to gang->run_as
  const Container* container = nullptr;             // null: the ranks run on the node itself
  std::map<std::string, std::string> inputs = {};   // data input -> its path for the ranks
  std::map<std::string, std::string> outputs = {};  // named output -> its path for the ranks
  SecretValues secrets = {};                        // the values of the job's secrets
  std::string client_home = {};    // LOCKSTEP_HOME of the ranks; "": they have no credential
  std::string client_folder = {};  // the folder of `lockstep`, for the end of PATH; "": not added
};

struct RankLaunch {
  int rank = 0;
  int local_rank = 0;
  Bootstrap::RankVariables bootstrap;
  spawn::RankProcess process;  // filled in by the steps
};

struct LaunchStep {
  const char* name;
  Status (*apply)(const LaunchContext& context, RankLaunch& rank);
};

// Returns `text` with the expressions of data inputs and outputs replaced.
std::string put_in_paths(const LaunchContext& context, const std::string& text);

// Runs every step, in order. An error names the step.
Status prepare_launch(const LaunchContext& context, RankLaunch& rank);

// The steps. set_environment comes before set_command, because the program is looked up in the PATH
// that it sets.
Status set_environment(const LaunchContext& context, RankLaunch& rank);
Status set_command(const LaunchContext& context, RankLaunch& rank);
Status set_identity(const LaunchContext& context, RankLaunch& rank);
Status set_binding(const LaunchContext& context, RankLaunch& rank);
Status set_rlimits(const LaunchContext& context, RankLaunch& rank);
Status set_cgroups(const LaunchContext& context, RankLaunch& rank);

}  // namespace lockstep::runner
