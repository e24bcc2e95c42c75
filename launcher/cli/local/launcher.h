#pragma once
// Provides the local computer as a target without set-up: starts a launcher and its local nodes,
// restarts them, and ends them. A lock file ensures that two simultaneous command lines start only
// one launcher. Nothing here is used when LOCKSTEP_LAUNCHER names a launcher.

#include <memory>
#include <string>
#include <vector>

#include "common/io/file_system.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/local/home.h"
#include "launcher/cli/local/processes.h"
#include "launcher/cli/terminal/terminal.h"

namespace lockstep::cli {

inline constexpr int kMaxLocalNodes = 64;

class LocalLauncher {
 public:
  LocalLauncher(const LocalHome& home, Terminal& terminal) : home_(home), terminal_(terminal) {}

  // Returns a live launcher with live local nodes, and starts those that are missing. `nodes` 0 =
  // the number of the last time, or 1. With `heal` false only a missing launcher is started, never
  // a missing agent.
  Result<Endpoint> ensure(int nodes, bool heal);

  // Restarts the local agents that died, without waiting for them, and returns their names. Does
  // nothing without a live launcher, or while another command line starts or stops processes.
  Result<std::vector<std::string>> restart_agents();

  // `lockstep up`: as ensure, but adds nodes if there were fewer, and prints what is running.
  Status up(int nodes);
  // `lockstep down`. Returns conflict while jobs run, unless `cancel`. It also fails if the
  // processes had to be ended without the launcher, so that their jobs are not canceled.
  Status down(bool cancel);

 private:
  Error home_unusable(Error error) const;
  Error not_started(Error error) const;
  Result<Endpoint> start_all(int nodes);
  struct Started {
    std::vector<AgentStart> agents;
    std::vector<io::ProcessIdentity> processes;
  };
  Result<Started> start_missing(Connection& connection, const Endpoint& endpoint, int nodes,
                                Duration timeout);
  Status add_agents(const Endpoint& endpoint, int nodes);
  Status wait_for_nodes(Connection& connection, const Started& started);
  Status up_beside_operator(int nodes);
  Status grow(const Endpoint& endpoint, int from, int to);
  Result<Endpoint> wake_for_down(bool cancel);
  Status down_without_launcher(const Error& why, bool cancel);
  Status end_agents();
  Status end_foreign_agents(const std::string& name);
  Status end_leftovers();
  void forget_nodes();
  int wanted_nodes() const;  // number of the last `up`; 1 when there was none
  void keep_wanted_nodes(int nodes);
  // True if all local agents are alive and have joined this launcher.
  bool agents_serve(const Endpoint& endpoint, int nodes) const;

  const LocalHome& home_;
  Terminal& terminal_;
};

}  // namespace lockstep::cli
