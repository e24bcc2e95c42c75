#pragma once
// One "node" of the PMIx harness: a process with the real GangLink and Bootstrap, which starts its
// ranks itself. It stands in for the runner's shell, so that the bootstrap can be tested alone.

#include <map>
#include <string>
#include <vector>

namespace lockstep::runner::harness {

struct Plan {
  int nodes = 1;
  int ranks_per_node = 1;
  std::vector<std::string> netns;      // one per node, or none
  std::vector<std::string> addresses;  // one per node, or none: 127.0.0.1
  unsigned uid = 0, gid = 0;           // of the ranks; the harness's own by default
  std::string tmp;                     // a directory per job and node is created below it
  std::string job_name;
  std::map<std::string, std::string> environment;  // the user's variables
  int kill_rank = -1;                              // SIGKILL it once every local rank has connected
  bool timing = false;                             // node 0 prints when it reached each stage
  std::vector<std::string> command;
};

// Runs node `node_rank`. `channel` connects it to the harness: it sends its endpoint, receives the
// gang table, and sends the results.
// Returns the process's exit code.
int run_node(const Plan& plan, int node_rank, int channel);

// One line of the results.
struct RankResult {
  int rank = 0, exit_code = 0, signal = 0;
  bool connected = false, finalized = false, terminated = false, aborted = false;
  int abort_code = 0;
};

}  // namespace lockstep::runner::harness
