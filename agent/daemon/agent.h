#pragma once
// The node agent: agent/core in an event loop. It decodes messages, passes them to the core, and
// carries out the core's actions. It owns the sockets, the supervisor and the log shipper, and
// decides nothing itself.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agent/core/core.h"
#include "agent/daemon/links/attach_relay.h"
#include "agent/daemon/links/bulk_link.h"
#include "agent/daemon/links/identity.h"
#include "agent/daemon/links/launcher_addresses.h"
#include "agent/daemon/links/launcher_link.h"
#include "agent/daemon/links/moved_file.h"
#include "agent/daemon/network_watch.h"
#include "agent/daemon/notice_file.h"
#include "agent/daemon/outputs/collections.h"
#include "agent/environment/environments.h"
#include "agent/supervise/agent_home.h"
#include "agent/supervise/disk_watch.h"
#include "agent/supervise/supervisor.h"
#include "agent/supervise/workers.h"
#include "agent/usage/gpu_sampler.h"
#include "agent/usage/node_sampler.h"
#include "common/base/growing_pauses.h"
#include "common/domain/runners/workspace_plan.h"
#include "common/io/cgroups/pids_of_jobs.h"
#include "common/io/clock.h"

namespace lockstep::agent {

// Builds the working directory of an assignment, on a worker thread.
using StageWorkspaceFunction = std::function<Result<WorkspacePlan>(
    const Assignment& assignment, const io::AttemptDir& directory,
    const std::function<void(const std::string&)>& progress)>;

struct AgentConfig {
  AgentHome home{""};
  Identity identity;  // its endpoints are dialled first: see as_dialled
  // the node's address, as --advertise gives it; "": the address of the route to the launcher
  std::string advertise;
  std::string token_file;  // the value of --token-file: moved_file.h; "": none
  // A launcher that starts again at its old address is not left too soon.
  Duration try_address_for = seconds(3);  // how long one of several addresses is tried
  io::KeyPair keys;
  Inventory inventory;
  MachinePart machine = {};
  std::string runner_program;
  Bytes log_spool = gibibytes(1);  // for each attempt on this node: see runner/logs/log_capture.h
  // with less free space, the node takes no new part; 0: io::default_low_space
  Bytes low_space = {};
  LimitCaps caps = {};
  // How often the use of the node and its ranks is sampled; zero: never.
  Duration sample_every = kSampleEvery;
  // Whether its network has changed, if `inventory` has a fabric; zero: never.
  Duration look_at_network_every = seconds(15);
  StageWorkspaceFunction stage;
  OutputFunctions outputs;
  EnvironmentConfig environments = {};
  std::function<void(const AllowPeers&)> allow_peers = {};  // lets peers fetch from this node
  // Called again and again: serves peers if that was not possible before.
  std::function<void(const Inventory&)> serve_peers = {};
  // Called when the launcher is dialled elsewhere, or when the node's own address has changed.
  std::function<void(const Identity&, const Inventory&)> moved = {};
  // Called when the launcher has accepted our session there.
  std::function<void(const Identity&)> settled = {};
  SessionId session;
  BootId boot;
  bool same_boot = true;  // the node has not rebooted since the previous agent of this home
};

class Agent {
 public:
  Agent(io::EventLoop& loop, io::Transport& transport, io::Clock& clock, AgentConfig config);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Runs until leave(), or until the launcher refuses us: then returns the reason as an error.
  Status run();
  // Runs one iteration of run(), for tests: waits at most `longest`.
  void turn(Duration longest);
  void leave() { leaving_ = true; }
  void machine_taken(MachineTaken taken) { emit(std::move(taken)); }

 private:
  void emit(Input input) { inputs_.push_back(std::move(input)); }
  void emit_from_worker(const std::shared_ptr<bool>& alive, Input input);
  void handle_inputs();
  Instant next_deadline() const;
  void receive(const std::string& bytes);
  void leave_if_failed(const Status& dialled);
  void dial_next();
  void dial_current();
  void look_where_launcher_is();
  void measure_address();
  void keep_addresses();
  void note_link(bool in_session);
  void tell_trouble();
  void on_link(io::ClientSocket::Link link);
  void send(AgentMessage body);
  void send_observed();
  void note_session(const AgentReply& reply);
  void note_time(const AgentReply& reply);
  void report_usage(Instant now);
  void network_changed(const Inventory& now);

  void perform(SendSession& action);
  Why low_disk() const;
  Why why_no_new_part() const;
  void perform(SendHeartbeat& action);
  void perform(SendObserved& action) { observed_ = std::move(action.observed); }
  void perform(StageWorkspace& action);
  void perform(PrepareEnvironment& action) { environments_.prepare(action.assignment); }
  void perform(LeaveEnvironment& action) { environments_.leave(action.attempt); }
  void perform(PruneUnused& action) { environments_.prune(action.unused_since); }
  void perform(StartRunner& action);
  void perform(UpdateRunner& action) { supervisor_.update(action.assignment); }
  void perform(ShipLogs& action);
  void perform(KillRunner& action) { supervisor_.kill(action.attempt); }
  void perform(CollectOutputs& action) {
    collections_.start(action.assignment, std::move(action.killed));
  }
  void perform(SettleOutputs& action) { collections_.settle(action.attempt); }
  void perform(CaptureFolders& action) { collections_.capture_folders(action.assignment); }
  void perform(CaptureCheckpoint& action) {
    collections_.capture_checkpoint(action.assignment, action.insist);
  }
  void perform(RenewLease& action);
  void perform(RemovePart& action);
  void perform(Reconnect&);
  void perform(ExitAgent& action);
  void perform(LeaveMachine&);
  void look_for_notice();
  AttachRelay::Callbacks attach_callbacks();
  void connect_attach_relay();

  io::EventLoop& loop_;
  io::Transport& transport_;
  io::Clock& clock_;
  AgentConfig config_;
  Core core_;
  std::deque<Input> inputs_;
  KnownAddresses addresses_;
  MovedFile message_file_, token_file_;
  Instant look_where_at_;
  std::string measured_at_;  // the endpoint whose route gave the node's address
  bool is_linked_ = false;   // whether the link file announces it
  // Pauses between messages that no launcher answers.
  GrowingPauses unanswered_{seconds(10), minutes(10)};
  Instant unanswered_since_;
  std::set<AttemptId> staging_;
  std::string told_trouble_;  // the last trouble of the bulk link that was reported
  Identity saved_;            // the identity in the file
  Duration try_for_;          // how long one of several addresses is tried
  LauncherLink control_;
  BulkLink bulk_;
  Collections collections_;  // outlives the workers, which use it
  Workers workers_;
  Environments environments_;
  Supervisor supervisor_;
  AttachRelay attach_relay_;
  NetworkWatch network_watch_;
  std::uint64_t inventory_number_ = 1;  // see SessionOpen
  DiskWatch disk_watch_;
  const io::PidsOfJobsWatch pids_of_jobs_;
  NodeSampler node_sampler_;
  GpuSampler gpu_sampler_;
  std::optional<Notice> notice_;  // the file's notice that the core has
  Instant acked_, acked_at_;      // see Heartbeat
  bool in_session_ = false;       // the launcher accepted our session, and did not end it since
  Instant report_usage_at_ = Instant::never();
  std::set<AttemptId> recovered_;  // parts of an earlier agent, whose logs may be partly sent
  // set to false so that late worker results are dropped
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  // The newest report alone is sent: it has every unacknowledged change.
  std::optional<Observed> observed_;
  std::uint64_t sequence_ = 0;
  bool leaving_ = false;
  std::optional<std::string> refused_;
};

}  // namespace lockstep::agent
