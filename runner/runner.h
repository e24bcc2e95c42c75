#pragma once
// One runner: the shell around runner/core. It turns what happens (spawn, pipes, gang, agent, time)
// into the core's inputs, one at a time on the loop's thread, and performs the actions that come
// back. It owns everything of its attempt on this node while that runs; it decides nothing.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/io/attempt_dir.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/port_lease.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/bootstrap/gang_link.h"
#include "runner/core/core.h"
#include "runner/node_setup.h"
#include "runner/runner_server.h"
#include "runner/steps/cgroup_joiner.h"
#include "runner/steps/limit_watch.h"
#include "runner/steps/log_capture.h"
#include "runner/steps/step.h"

namespace lockstep::runner {

// What the node allows an attempt.
struct NodeBounds {
  Bytes log_spool = kDefaultLogSpool;  // see LogCapture
  LimitCaps caps;
  std::string nursery = {};  // that this process is in: common/io/nursery.h; "": none
};

class Runner {
 public:
  Runner(io::EventLoop& loop, io::AttemptDir directory, Orders orders, const NodeBounds& bounds);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Until the core says Leave. An error: the attempt could not be supervised at all.
  Status run();

 private:
  // What serves our orders to ranks: lockstep-spawn, on the node or in a container.
  enum class Spawner {
    serves,
    kills,     // kill_all was ordered and is not yet answered
    sweeping,  // it is gone; what it left is being killed
    removing,  // the same, with its container
    gone,
  };
  bool spawner_is_lost() const { return spawner_ >= Spawner::sweeping; }
  // Something that may still write into the ranks' pipes is being ended.
  bool is_killing() const { return spawner_ != Spawner::serves && spawner_ != Spawner::gone; }
  // What happens to orders to start ranks.
  enum class Launching {
    not_begun,
    preparing,  // the bootstrap begins: ranks are pending
    ready,      // each rank is pending until the bootstrap has prepared it
    refused,    // no further rank is started: refusal_ says why
  };
  enum class Stage {
    awaiting_secrets,  // they come from the agent, by no file; until then nothing begins
    supervising,
    draining,  // the core waits for the last bytes of the ranks' logs
    drained,
    settling,  // the final report is made; neighbours, or the container, are waited for
    writing,   // it is to be put on disk, again and again
    reported,  // it is there
    homeless,  // it has no place to go: its directory was removed
  };

  // runner.cc: the loop, and the actions that need no rank
  void on_assignment(Assignment assignment);
  void look_at_clock();
  spawn::Client::Events spawn_events();
  ContainerProcess::Events container_events();
  void feed(Input input) { inputs_.push_back(std::move(input)); }
  void take_inputs();
  Duration until_deadline();
  void look_at_lease();
  void perform(const LeasePorts& action);
  void perform(const ConnectGang& action);
  void perform(const TellGang& action);
  void perform(const Report& action);
  PartReport shown(PartReport report) const;
  void perform(const WriteFinalReport& action);
  void perform(const Leave& action);
  void end(const EndPart& order);
  LimitCounts count_limits() const;
  void look_at_limits(bool final);
  void tell_limits();
  bool others_need_us();
  bool container_ends();
  void tell_environment_log();
  void write_final_report();
  bool awaits_secrets() const { return stage_ == Stage::awaiting_secrets; }
  void leave();
  void gang_received(int from, GangMessage message);
  void send_to_gang(const GangMessage& message);

  // runner_launch.cc: ranks, from the order to their start
  void perform(const StartRank& action);
  void begin_launching();
  void bootstrap_begun(const Status& begun);
  Status describe_gang();
  BootstrapEvents bootstrap_events();
  void prepare_start(const StartRank& action);
  void start_prepared(const StartRank& action, Result<Bootstrap::RankVariables> variables);
  Status start_rank(const StartRank& action, Bootstrap::RankVariables variables);
  void refuse_starts(const std::string& why);
  void give_up_starts(const std::string& why);
  void fail_start(int rank, const std::string& why);

  // runner_ranks.cc: ranks, from start to drained
  void perform(const SignalRanks& action);
  void perform(const KillEverything& action);
  void perform(const ReadStderrTail& action);
  void perform(const DrainLogs& action);
  void rank_started(int rank, int pid);
  void record_started();
  void join_cgroups();
  void unpause();
  void frozen_removed();
  void rank_failed(int rank, int error, spawn::SpawnStage stage);
  bool was_out_of_memory(int rank);
  void rank_exited(int rank, int wait_status);
  void spawn_lost();
  void sweep();
  void container_lost();
  void drain_if_empty();

  io::EventLoop& loop_;
  io::AttemptDir directory_;
  Orders orders_;
  const Limits limits_;
  io::SystemClock clock_;
  Core core_;
  std::deque<Input> inputs_;
  LogCapture logs_;
  LimitWatch limit_watch_;
  const std::string nursery_;
  Instant look_at_limits_at_ = Instant::never();
  NodeSetup setup_;
  std::unique_ptr<CgroupJoiner> joiner_;
  std::unique_ptr<RunnerServer> control_;
  std::optional<io::PortLease> master_port_;
  std::unique_ptr<GangLink> link_;
  std::unique_ptr<GangContext> gang_;  // set once, before the bootstrap
  std::unique_ptr<Bootstrap> bootstrap_;
  std::vector<GangMessage> early_;  // for the bootstrap, until it is ready
  LaunchContext launch_;
  Spawner spawner_ = Spawner::serves;
  Instant sweep_at_ = Instant::never(), sweep_until_;  // while sweeping
  Launching launching_ = Launching::not_begun;
  std::string refusal_;
  std::map<int, StartRank> pending_;  // by rank: ordered, and neither started nor answered
  Stage stage_;
  Instant noted_start_;
  std::string blocked_shown_;                   // the reason the agent was last told
  std::optional<NodeExitReport> final_report_;  // from `settling` on
  Instant write_again_at_ = Instant::never();
  Instant settle_until_;  // until then it waits for neighbours that lack our last words
  Instant look_at_lease_at_ = Instant::never();
  Instant join_at_ = Instant::never();
  Instant unpause_at_ = Instant::never();  // ranks that hear no signal by then may be frozen
  std::map<int, int> joining_;  // rank -> pid, of those that run and are in no cgroup yet
};

}  // namespace lockstep::runner
