#pragma once
// One runner: the shell around runner/core. It turns events (spawn, pipes, gang, agent, time) into
// the core's inputs, one at a time on the loop's thread, and carries out the core's actions. It
// owns all resources of its attempt on this node while the attempt runs; it decides nothing.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/io/attempt_dir.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/port_lease.h"
#include "runner/attach/attachments.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/bootstrap/gang_link.h"
#include "runner/core/core.h"
#include "runner/node_setup.h"
#include "runner/runner_server.h"
#include "runner/steps/cgroup_joiner.h"
#include "runner/steps/limit_watch.h"
#include "runner/steps/log_capture.h"
#include "runner/steps/step.h"
#include "runner/usage/rank_sampler.h"

namespace lockstep::runner {

// The node's limits for an attempt.
struct NodeBounds {
  Bytes log_spool = kDefaultLogSpool;  // see LogCapture
  LimitCaps caps;
  std::string nursery = {};  // the nursery of this process: common/io/nursery.h; "": none
  Duration sample_every = kSampleEvery;  // what the ranks use; zero: never
};

// Without a memory limit, ranks join their cgroups so long after the first start.
inline constexpr Duration kJoinAfter = milliseconds(10);

class Runner {
 public:
  Runner(io::EventLoop& loop, io::AttemptDir directory, Orders orders, const NodeBounds& bounds);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Runs until the final report is on disk. An error: the runner could not listen on its control
  // socket, or the attempt directory was removed.
  Status run();

 private:
  // The state of lockstep-spawn, which carries out our orders on the node or in a container.
  enum class Spawner {
    serves,
    kills,     // kill_all was sent and is not yet answered
    sweeping,  // lockstep-spawn is gone; the processes that it left are being killed
    removing,  // lockstep-spawn is gone; its container is being removed
    gone,
  };
  bool spawner_is_lost() const { return spawner_ >= Spawner::sweeping; }
  // Processes that may still write into the ranks' pipes are being killed.
  bool is_killing() const { return spawner_ != Spawner::serves && spawner_ != Spawner::gone; }
  // How StartRank actions are handled now.
  enum class Launching {
    not_begun,
    preparing,  // the bootstrap begins: ranks are pending
    ready,      // each rank is pending until the bootstrap has prepared it
    refused,    // no further rank is started: refusal_ says why
  };
  enum class Stage {
    awaiting_secrets,  // the agent sends them over the socket; until then the core gets no input
    supervising,
    draining,  // the core waits for the last bytes of the ranks' logs
    drained,
    settling,  // the final report is ready; the runner waits for neighbours or the container
    writing,   // the runner tries to write the report until it succeeds
    reported,  // the report is on disk
    homeless,  // the report cannot be written: the attempt directory was removed
  };

  // runner.cc: the loop, and the actions that are not about ranks
  void on_assignment(Assignment assignment);
  void look_at_clock();
  spawn::Client::Events spawn_events();
  ContainerProcess::Events container_events();
  void feed(Input input) { inputs_.push_back(std::move(input)); }
  void take_inputs();
  Duration until_deadline();
  void look_at_lease();
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
  void sample_ranks();
  void tell_totals();
  bool others_need_us();
  bool container_ends();
  void tell_environment_log();
  void write_final_report();
  bool awaits_secrets() const { return stage_ == Stage::awaiting_secrets; }
  void leave();
  void gang_received(int from, GangMessage message);
  void send_to_gang(const GangMessage& message);

  // runner_ports.cc: the ports of the part
  void perform(const LeasePorts& action);
  void lease_ports();
  Status lease_rest();

  // runner_launch.cc: ranks, from StartRank to their start
  void perform(const StartRank& action);
  void begin_launching();
  void bootstrap_begun(const Status& begun);
  Status describe_gang();
  Status bind_ranks_here();
  BootstrapEvents bootstrap_events();
  void bootstrap_lost(const std::string& why);
  void prepare_start(const StartRank& action);
  void start_prepared(const StartRank& action, Result<Bootstrap::RankVariables> variables);
  Status start_rank(const StartRank& action, Bootstrap::RankVariables variables);
  void refuse_starts(const std::string& why);
  void give_up_starts(const std::string& why);
  void fail_start(int rank, const std::string& why);

  // runner_attach.cc: attachments to ranks
  class AttachDoor;
  void open_to_attachments();
  void take_attach_frame(const AttachFrame& frame);
  int spawn_pid() const;
  void note_rank(int rank, spawn::RankProcess process);
  void end_attachments();
  void answer_attachments();
  void note_kills_beside(int rank);
  bool drain_main();
  Status start_main(const spawn::RankProcess& process, LogCapture::Writers logs, int connection);

  // runner_ranks.cc: ranks, from start to drained
  void perform(const SignalRanks& action);
  void perform(const WarnRanks& action);
  void perform(const KillEverything& action);
  void perform(const ReadStderrTail& action);
  void perform(const DrainLogs& action);
  void rank_started(int rank, int pid);
  void record_started();
  void look_at_memory_limit(int rank, int pid);
  void join_cgroups();
  void join_attached();
  void unpause();
  void frozen_removed();
  void rank_failed(int rank, int error, spawn::SpawnStage stage);
  bool was_out_of_memory(int rank);
  void rank_exited(int rank, int wait_status, const spawn::Spent& spent);
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
  RankSampler sampler_;
  const std::string nursery_;
  Instant look_at_limits_at_ = Instant::never();
  std::size_t ended_told_ = 0;  // ranks in the last report that was told
  NodeSetup setup_;
  std::unique_ptr<CgroupJoiner> joiner_;
  std::unique_ptr<RunnerServer> control_;
  std::optional<LeasePorts> leasing_;  // ordered and not all leased yet
  std::optional<io::PortLease> master_port_;
  std::vector<io::PortLease> rank_ports_;
  std::string why_no_port_;  // "": it waits for no port
  Instant lease_again_at_ = Instant::never(), wait_for_ports_until_;
  std::unique_ptr<GangLink> link_;
  std::unique_ptr<GangContext> gang_;  // set once, before the bootstrap
  std::unique_ptr<Bootstrap> bootstrap_;
  int pmix_pid_ = -1;               // of lockstep-pmix
  std::vector<GangMessage> early_;  // messages for the bootstrap that arrived before it was ready
  LaunchContext launch_;
  Spawner spawner_ = Spawner::serves;
  Instant sweep_at_ = Instant::never(), sweep_until_;  // while sweeping
  Launching launching_ = Launching::not_begun;
  std::string refusal_;
  std::map<int, StartRank> pending_;  // by rank: StartRank actions not yet carried out
  Stage stage_;
  Instant noted_start_;
  std::string blocked_shown_;                   // the reason last sent to the agent
  std::optional<NodeExitReport> final_report_;  // from `settling` on
  Instant write_again_at_ = Instant::never();
  Instant settle_until_;  // until then, wait for neighbours that have not received all messages
  Instant look_at_lease_at_ = Instant::never();
  Instant join_at_ = Instant::never();
  Instant unpause_at_ = Instant::never();  // ranks that run until then may be frozen
  std::map<int, int> joining_;  // rank -> pid, of live ranks that are not in their cgroup yet
  // A rank and the pid of a program that was attached to it before the ranks joined their cgroups.
  std::vector<std::pair<int, int>> joining_beside_;
  std::map<int, RankHere> ranks_here_;      // those that were started
  std::map<int, long long> killed_beside_;  // for memory, of what was attached to a rank
  std::unique_ptr<MainStreams> main_;  // of rank 0, if the job has a terminal; see drain_main()
  std::unique_ptr<AttachPlace> attach_door_;
  std::unique_ptr<Attachments> attachments_;  // from the start of the first rank on
};

}  // namespace lockstep::runner
