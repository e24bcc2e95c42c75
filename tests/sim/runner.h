#pragma once
// One simulated runner process: the real runner core in a simulated shell with its lockstep-spawn,
// its ranks (which do what the job's plan says) and its place in the gang's tree, down which the
// real table relay passes the table (runner_gang.cc).

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/core/core.h"
#include "runner/core/gang_rows.h"
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
  PartReport report() const { return as_told(core_.report()); }
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
  void act(const runner::ProbeGang& action);
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
  PartReport as_told(PartReport report) const;
  void hear_done(NodeId from, const GangNodeDone& done);

  // runner_gang.cc
  using Word = std::function<void(Runner& to)>;
  void dial();
  bool admits(const Runner& child) const;
  void say(const std::shared_ptr<Runner>& to, Word word);
  void carry(int to);
  void hear_hello(const std::shared_ptr<Runner>& child, bool awaits_rows);
  void hear_ready(int child);
  void take_rows(GangRows rows);
  void take_unchecked(GangRows rows);
  void pass_table_on();
  std::vector<GangRows> rows_for_child();
  void start_when_ready();
  void start_gang();
  void violate_gang(const std::string& what);

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

  struct Outgoing {
    std::weak_ptr<Runner> to;
    Word word;
  };
  const bool is_old_;                        // it knows no rows, as a runner of an earlier version
  std::optional<runner::TableRelay> table_;  // while it connects, and after that
  std::weak_ptr<Runner> parent_;
  std::map<int, std::weak_ptr<Runner>> children_;  // that have connected
  std::set<int> unready_;
  std::map<int, std::deque<Outgoing>> outgoing_;  // by node rank, in order
  GangTable unchecked_;                           // with a defect only
  bool said_ready_ = false, table_refused_ = false;
};

}  // namespace lockstep::sim
