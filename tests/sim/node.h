#pragma once
// One simulated machine: its attempt directories (which survive its processes, but in this
// simulation no reboot), the runners on it, and its agent (the real agent core in a simulated
// shell).

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "agent/core/core.h"
#include "tests/sim/runner.h"

namespace lockstep::sim {

class Cluster;

// The contents of an attempt directory.
struct AttemptFiles {
  Assignment assignment;
  bool runner_started = false;
  std::optional<NodeExitReport> final_report;
  Instant lease_until;
  std::optional<CollectedOutput> restored;
};

// One start of an agent on a node, or of a clone of it elsewhere.
class AgentProcess {
 public:
  AgentProcess(Cluster& cluster, Node& node, const BootId& boot, bool clone);
  void start();                          // recovers, connects
  void hear(const AgentReply& message);  // from the launcher
  void give(agent::Input input);
  void stop_for(Duration duration);  // SIGSTOP … SIGCONT
  bool dead() const { return dead_; }
  bool clone() const { return clone_; }
  SessionId session() const { return session_; }
  void kill() { dead_ = true; }
  bool idle() const { return core_.observed().empty(); }

 private:
  void handle(agent::Input input);
  void perform(const agent::Action& action);
  void act(const agent::SendSession& action);
  void act(const agent::SendHeartbeat& action);
  void act(const agent::SendObserved& action);
  void act(const agent::StageWorkspace& action);
  void act(const agent::PrepareEnvironment& action);
  void act(const agent::LeaveEnvironment& action);
  void act(const agent::PruneUnused&) {}
  void act(const agent::StartRunner& action);
  void act(const agent::UpdateRunner& action);
  void act(const agent::ShipLogs& action);
  void act(const agent::KillRunner& action);
  void act(const agent::CollectOutputs& action);
  void act(const agent::SettleOutputs& action);
  void act(const agent::CaptureFolders& action);
  void act(const agent::CaptureCheckpoint& action);
  void act(const agent::RenewLease& action);
  void act(const agent::RemovePart& action);
  void act(const agent::Reconnect& action);
  void act(const agent::ExitAgent& action);
  void act(const agent::LeaveMachine& action);
  struct Equipping {
    Assignment assignment;
    bool at_work = false;
    bool asked = false;                       // it has asked for a lock
    std::optional<std::uint64_t> solved;      // the generation that it solved
    std::optional<Digest> lock;               // the lock that it solved
    std::optional<std::uint64_t> not_solved;  // the generation that it failed to solve
  };
  void equip(const AttemptId& attempt);
  enum class Work { solve, build };
  void work_at(const AttemptId& attempt, Work work, std::function<void(Equipping&)> end);
  void fail(const AttemptId& attempt, Cause cause);
  void solve(const AttemptId& attempt);
  void tell_not_solved(const AttemptId& attempt);
  void tell_solved(const AttemptId& attempt);
  void could_not_solve(const AttemptId& attempt);
  void build(const AttemptId& attempt);
  void arm();
  void pump_logs(const AttemptId& attempt);
  void push_outputs(const AttemptId& attempt);
  void wait_for_space(const AttemptId& attempt);
  // Runs `event` after `delay`, unless this process has died by then.
  void later(Duration delay, std::function<void()> event);

  Cluster& cluster_;
  Node& node_;
  agent::Core core_;
  SessionId session_;
  BootId boot_;
  bool clone_ = false;
  bool dead_ = false;
  bool stopped_ = false;
  std::deque<agent::Input> waiting_;  // while stopped
  Instant armed_ = Instant::never();
  std::map<AttemptId, Equipping> equipping_;
  std::set<AttemptId> shipping_;
  std::set<AttemptId> collecting_;
  std::map<AttemptId, Instant> no_space_since_;  // of collecting_: since when there is no space
  std::set<AttemptId> settling_;                 // of collecting_: to be given up without space
  std::weak_ptr<AgentProcess> self_;
  friend class Node;
};

class Node {
 public:
  Node(Cluster& cluster, int index);

  void joined(NodeId id);  // the launcher accepted it: its agent starts
  void join_anew();        // after it was told that it was removed
  void uninstall();        // the provider removes the agent, its files and all that it started
  std::string name() const { return "n" + std::to_string(index); }
  void start_agent();
  void kill_agent();  // -9
  void reboot(Duration down_for);
  void partition_for(Duration duration);
  void cut_one_way(Duration duration);
  void clone_for(Duration duration);
  void hear(const AgentReply& message);
  void lose_everything();  // its runners, their ranks and the attempt directories
  void runner_ended(const AttemptId& attempt);
  bool reachable() const { return up && !partitioned && !deaf && !mute; }
  bool quiet() const;             // nothing is left on it
  std::string leftovers() const;  // as a text
  // The platform of this node's locks for the assignment's environment.
  std::string platform_for(const Assignment& assignment) const;

  Cluster& cluster;
  const int index;
  NodeId id;
  PublicKey key;
  int boots = 1;
  int identities = 1;
  int libraries;  // index of its glibc and CUDA versions
  const bool can_solve;
  bool up = true;
  bool partitioned = false;
  Instant disk_low_until;
  Instant taken_until;        // of the last notice
  bool notice_stays = false;  // the next agent of this boot finds the notice
  bool deaf = false;          // the launcher's messages to it are lost
  bool mute = false;          // its messages to the launcher are lost
  std::map<AttemptId, AttemptFiles> directories;
  std::map<AttemptId, std::shared_ptr<Runner>> runners;
  std::shared_ptr<AgentProcess> agent;
  std::shared_ptr<AgentProcess> clone;
  std::map<AttemptId, AttemptFiles> clone_directories;

  BootId boot() const {
    return BootId("boot-" + std::to_string(index) + "-" + std::to_string(boots));
  }
  Inventory inventory() const;
};

}  // namespace lockstep::sim
