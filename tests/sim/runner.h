#pragma once
// One simulated runner process: the real runner core in a simulated shell with its lockstep-spawn,
// its ranks (which do what the job's plan says) and its link to the other runners of the gang.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runner/core/core.h"
#include "tests/sim/plan.h"

namespace lockstep::sim {

class Cluster;
class Node;

class Runner : public std::enable_shared_from_this<Runner> {
 public:
  Runner(Cluster& cluster, Node& node, Assignment assignment);
  void start();
  void give(runner::Input input);
  void kill(bool with_strays);  // SIGKILL; its ranks die with it
  void kill_spawn();
  bool dead() const { return dead_; }
  bool connecting() const { return connecting_; }
  bool has_ranks() const;
  const AttemptId& attempt() const { return assignment_.attempt; }
  PartReport report() const { return core_.report(); }
  std::uint16_t port() const { return port_; }
  int node_rank() const { return assignment_.node_rank; }
  void peer_died(int node_rank);
  void wait_for_aftermath(bool rebooted);

 private:
  struct Rank {
    enum class State { none, starting, alive, gone } state = State::none;
    RankPlan plan;
    bool signalled = false;  // by our runner, so its end is a consequence and no cause
    bool connected = false;
  };

  void perform(const runner::Action& action);
  void act(const runner::LeasePorts& action);
  void act(const runner::ConnectGang& action);
  void act(const runner::StartRank& action);
  void act(const runner::SignalRanks& action);
  void act(const runner::WarnRanks&) {}
  void act(const runner::KillEverything& action);
  void act(const runner::TellGang& action);
  void act(const runner::ReadStderrTail& action);
  void act(const runner::DrainLogs& action);
  void act(const runner::Report& action);
  void act(const runner::WriteFinalReport& action);
  void act(const runner::Leave& action);
  void arm();
  void look_at_lease();
  void later(Duration delay, std::function<void()> event);
  void try_connect(const GangTable& gang);
  void hear_drained(NodeId from, const GangDrained& drained);
  void live(int rank);  // the rank runs from here to its end
  void end_by_itself(int rank);
  void end(int rank, Ending ending, int code, int signal, bool oom);
  void signal_rank(int rank, int signal);
  void kill_ranks();
  void check_grace();
  void set_strays(int strays);
  void drained_when_quiet();
  bool is_mpi() const;

  Cluster& cluster_;
  Node& node_;
  Assignment assignment_;
  runner::Core core_;
  std::map<int, Rank> ranks_;
  int strays_ = 0;
  bool dead_ = false;
  bool spawn_dead_ = false;
  bool connecting_ = false;
  bool draining_ = false;
  Duration grace_;  // the shortest that the launcher gave its ranks
  std::optional<Instant> terminated_;
  std::uint16_t port_ = 0;
  Instant armed_ = Instant::never();
};

}  // namespace lockstep::sim
