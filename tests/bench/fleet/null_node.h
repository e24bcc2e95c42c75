#pragma once
// One simulated node: the production agent core over a real CURVE socket, with a null runner. Each
// action for a runner succeeds at once: a part is staged, started, running and finished, without
// outputs. It has no disk, no processes and no logs. It reports what it uses as often as a real
// node, and the launcher's messages to a Witness.

#include <algorithm>
#include <deque>
#include <optional>
#include <string>

#include "agent/core/core.h"
#include "agent/daemon/links/identity.h"
#include "agent/daemon/links/launcher_link.h"
#include "common/io/clock.h"
#include "common/io/net/transport.h"

namespace lockstep::fleet {

// Prints lines for the script that drives the benchmark: "WHAT NODE NANOSECONDS [ATTEMPT [BYTES]]",
// in CLOCK_MONOTONIC.
class Witness {
 public:
  void accepted(NodeId node);                            // the launcher accepted its session
  void assigned(NodeId node, const AttemptId& attempt);  // a part of a gang, to prepare
  void told_to_run(NodeId node, const AttemptId& attempt, std::size_t bytes);  // of the message
  void flush();

 private:
  void line(const char* what, NodeId node, const std::string& more);
  std::string lines_;
};

class NullNode {
 public:
  NullNode(io::EventLoop& loop, io::Transport& transport, io::Clock& clock, Witness& witness,
           agent::Identity identity, io::KeyPair keys, Inventory inventory,
           std::uint32_t gang_rows);  // see PartReport
  NullNode(const NullNode&) = delete;
  NullNode& operator=(const NullNode&) = delete;

  Status dial() { return control_.dial(); }
  Instant next_deadline() const {
    return std::min({core_.next_deadline(), control_.next_deadline(), report_usage_at_});
  }
  void tick();

 private:
  void receive(const std::string& bytes);
  void feed(agent::Input input);
  void send(AgentMessage body);
  void observe(const AgentReply& message);
  void report_usage();
  PartReport report_of(const Assignment& assignment, PartState state) const;
  void run(const Assignment& assignment);
  void die_if_failed(const Status& dialled) const;
  [[noreturn]] void die(const std::string& why) const;

  void perform(agent::SendSession& action);
  void perform(agent::SendHeartbeat& action) { send(action.beat); }
  void perform(agent::SendObserved& action) { observed_ = std::move(action.observed); }
  void perform(agent::StageWorkspace& action);
  void perform(agent::StartRunner& action);
  void perform(agent::UpdateRunner& action);
  void perform(agent::CollectOutputs& action);
  void perform(agent::RemovePart& action);
  void perform(agent::Reconnect&);
  void perform(agent::ExitAgent& action);
  void perform(agent::LeaveMachine&) { die("its machine is taken away"); }
  void perform(agent::PrepareEnvironment&) {}  // its jobs have none
  void perform(agent::LeaveEnvironment&) {}
  void perform(agent::PruneUnused&) {}
  void perform(agent::KillRunner&) {}
  void perform(agent::ShipLogs&) {}
  void perform(agent::SettleOutputs&) {}  // outputs are collected already
  void perform(agent::CaptureFolders&) {}
  void perform(agent::CaptureCheckpoint&) {}
  void perform(agent::RenewLease&) {}

  io::Clock& clock_;
  Witness& witness_;
  agent::Identity identity_;
  io::KeyPair keys_;
  Inventory inventory_;
  std::uint32_t gang_rows_;
  std::size_t received_ = 0;  // bytes of the message at hand
  SessionId session_;
  agent::Core core_;
  agent::LauncherLink control_;
  std::deque<agent::Input> inputs_;
  std::optional<Observed> observed_;  // only the newest is sent, as in agent/daemon/agent.h
  bool handling_ = false;
  std::uint64_t sequence_ = 0;
  Instant report_usage_at_ = Instant::never();
};

}  // namespace lockstep::fleet
