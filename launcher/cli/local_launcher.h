#pragma once
// "Local computer" without set-up: brings a launcher and its local nodes up, keeps them up, and
// ends them. One lock file makes two command lines at once start one launcher. Whoever names a
// launcher of his own (LOCKSTEP_LAUNCHER) does without all this.

#include <memory>
#include <string>
#include <vector>

#include "common/io/file_system.h"
#include "launcher/cli/connection.h"
#include "launcher/cli/local_home.h"
#include "launcher/cli/local_processes.h"
#include "launcher/cli/terminal.h"

namespace lockstep::cli {

inline constexpr int kMaxLocalNodes = 64;

class LocalLauncher {
 public:
  LocalLauncher(const LocalHome& home, Terminal& terminal) : home_(home), terminal_(terminal) {}

  // A live launcher with live local nodes; starts what is missing. `nodes` 0 = as many as there
  // were last time, or 1. With `heal` false only a missing launcher is started, never a missing
  // agent.
  Result<Endpoint> ensure(int nodes, bool heal);

  // Starts again those local agents that died, without waiting for them; their names. Does nothing
  // without a live launcher, or while another command line starts or stops things.
  Result<std::vector<std::string>> restart_agents();

  // `lockstep up`: as ensure, and more nodes than before are added. Says what is up.
  Status up(int nodes);
  // `lockstep down`. conflict while jobs run, unless `cancel`; an error, too, when what ran was
  // ended without a launcher that could cancel its jobs.
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
  int wanted_nodes() const;  // of the last `up`; 1 when there was none
  void keep_wanted_nodes(int nodes);
  // All of them live, and joined this launcher.
  bool agents_serve(const Endpoint& endpoint, int nodes) const;

  const LocalHome& home_;
  Terminal& terminal_;
};

}  // namespace lockstep::cli
