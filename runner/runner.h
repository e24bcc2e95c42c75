#pragma once
// One runner: the shell around runner/core. It turns events (spawn, pipes, gang, agent, time) into
// the core's inputs, one at a time on the loop's thread, and carries out the core's actions. It
// owns all resources of its attempt on this node while the attempt runs; it decides nothing.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/ranks/standing.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/net/port_lease.h"
#include "runner/attach/attachments.h"
#include "runner/attach/core_files.h"
#include "runner/attach/kept_stacks.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/core/core.h"
#include "runner/fabric/probe/gang_probe.h"
#include "runner/fabric/probe/parent_check.h"
#include "runner/fabric/rdma/transport_watch.h"
#include "runner/gang/gang_link.h"
#include "runner/logs/log_capture.h"
#include "runner/node/cgroup_joiner.h"
#include "runner/node/limit_watch.h"
#include "runner/node_setup.h"
#include "runner/runner_server.h"
#include "runner/steps/step.h"
#include "runner/usage/rank_sampler.h"
#include "runner/watch/compare/gang_watch.h"
#include "runner/watch/node_watch.h"

namespace lockstep::runner {

// The node's limits for an attempt.
struct NodeBounds {
  Bytes log_spool = kDefaultLogSpool;  // see LogCapture
  LimitCaps caps;
  std::string nursery = {};  // the nursery of this process: common/io/cgroups/nursery.h; "": none
  Duration sample_every = kSampleEvery;  // how often the use of the ranks is sampled; zero: never
  std::string probe_cache = {};          // folder: see fabric/probe/earlier_probes.h; "": none
  bool probes = true;  // whether the networks of gangs are probed of which this is the first node
};

// The time after the first start at which ranks without a memory limit join their cgroups.
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
    refused,    // no further rank is started: refusal_ has the reason
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

  // runner.cc: the loop, and what ends the part from outside
  void on_assignment(Assignment assignment);
  void look_at_clock();
  spawn::Client::Events spawn_events();
  ContainerProcess::Events container_events();
  void feed(Input input) { inputs_.push_back(std::move(input)); }
  void take_inputs();
  Duration until_deadline();
  void look_at_lease();
  void perform(const Leave& action);
  void end(const EndPart& order);
  LimitCounts count_limits() const;
  void look_at_limits(bool final);
  void tell_limits();
  bool awaits_secrets() const { return stage_ == Stage::awaiting_secrets; }
  void set_up();
  void leave();

  // runner_report.cc: the reports to the agent
  void perform(const Report& action);
  PartReport shown(PartReport report) const;
  void tell_network(PartReport& report) const;
  void perform(const WriteFinalReport& action);
  bool container_ends();
  void tell_environment_log();
  void write_final_report();

  // runner_gang.cc: the runners of the gang's other nodes
  void perform(const ConnectGang& action);
  void gang_connected();
  void neighbour_lost(int node_rank);
  void perform(const TellGang& action);
  void gang_received(int from, GangMessage message);
  void send_to_gang(const GangMessage& message);
  bool others_need_us();

  // runner_ports.cc: the ports of the part
  void perform(const LeasePorts& action);
  void lease_ports();
  Status lease_rest();
  void lease_ras_port();

  // runner_probe.cc: whether the gang's nodes reach each other
  void check_parent(const ConnectGang& action);
  void perform(const ProbeGang& action);
  GangProbe& probe();
  void probe_done(ProbeOutcome outcome);
  void expire_probe(Instant now);
  Instant probe_deadline() const;
  void end_probe();
  void forget_probe_of(const NodeExitReport& report);

  // runner_launch.cc: ranks, from StartRank to their start
  void perform(const StartRank& action);
  void begin_launching();
  void bootstrap_begun(const Status& begun);
  Status describe_gang();
  void note_network();
  Status bind_ranks_here();
  BootstrapEvents bootstrap_events();
  void bootstrap_lost(const std::string& said);
  void prepare_start(const StartRank& action);
  void start_prepared(const StartRank& action, Result<Bootstrap::RankVariables> variables);
  Status start_rank(const StartRank& action, Bootstrap::RankVariables variables);
  void refuse_starts(const Why& why);
  void give_up_starts(const Why& why);
  void fail_start(int rank, const Why& why);

  // runner_attach.cc: attachments to ranks
  class RunnerAttachPlace;
  AttachFacts attach_facts() const;
  void open_to_attachments();
  void take_attach_frame(const AttachFrame& frame);
  int spawn_pid() const;
  void note_rank(int rank, spawn::RankProcess process);
  void end_attachments();
  void answer_attachments();
  void note_kills_beside(int rank);
  bool drain_main();
  Status start_main(const spawn::RankProcess& process, LogCapture::Writers logs, int connection);

  // runner_transport.cc: whether ranks that want RDMA can use it, and do
  void check_rdma();
  void watch_transport();
  void note_standings(const RankStandings& standings);
  void look_at_transport(bool final);
  std::vector<Why> notes() const;

  // runner_watch.cc: the watch over the gang's ranks
  bool is_watched() const { return orders_.assignment.spec.hang.after > Duration::zero(); }
  void make_gang_watch(const GangTable& gang);
  void begin_watch();
  std::vector<std::string> addresses_of(int node_rank) const;
  NodeWatch::Settings watch_settings() const;
  bool take_watched(int from, const GangMessage& message);
  void note_other_over(int node_rank);
  void tool_failed(int id, int error, spawn::SpawnStage stage);
  void tool_exited(int id, int wait_status);
  void ask_ras();
  void take_ras(const Result<RasReport>& report);
  void tell_found();
  void gang_hangs(const Found& found);
  void end_gang_for(const Found& found);
  void look_at_watch(Instant now);
  Instant watch_deadline() const;
  void linger();
  bool watches_others();
  void end_watch_here();
  void end_watch();
  void write_soon();

  // runner_cores.cc: core files of ranks (lockstep.core)
  void open_to_cores(const std::string& tools);
  bool reads_cores() const { return cores_ && cores_->any(); }
  bool waits_for_cores();
  void look_at_cores();
  void tell_cores();

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
  void sample_ranks();
  void tell_totals();
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
  std::size_t ended_told_ = 0;  // the ranks in the last report that was sent
  NodeSetup setup_;
  std::unique_ptr<CgroupJoiner> joiner_;
  std::unique_ptr<RunnerServer> control_;
  std::optional<LeasePorts> leasing_;  // ordered and not all leased yet
  std::optional<io::PortLease> master_port_;
  std::vector<io::PortLease> rank_ports_;
  std::optional<io::PortLease> ras_port_;  // the port for NCCL's RAS
  std::string why_no_port_;                // "": it waits for no port
  Instant lease_again_at_ = Instant::never(), wait_for_ports_until_;
  std::unique_ptr<GangLink> link_;
  const std::string probe_cache_;
  const bool probes_;
  std::unique_ptr<ParentCheck> parent_check_;  // set until the gang is connected
  std::unique_ptr<GangProbe> probe_;           // set from the first message of a probe on
  std::string probe_entry_;                    // the entry of the network in use in probe_cache_
  std::unique_ptr<GangContext> gang_;          // set once, before the bootstrap
  // Settings in which ranks differ from the first rank of `gang_`.
  SettingOverrides other_settings_;
  std::unique_ptr<Bootstrap> bootstrap_;
  int pmix_pid_ = -1;               // the pid of lockstep-pmix
  std::vector<GangMessage> early_;  // messages for the bootstrap that arrived before it was ready
  LaunchContext launch_;
  Spawner spawner_ = Spawner::serves;
  Instant sweep_at_ = Instant::never(), sweep_until_;  // set while sweeping
  Launching launching_ = Launching::not_begun;
  Why refusal_;
  std::map<int, StartRank> pending_;  // by rank: StartRank actions not yet carried out
  Stage stage_;
  Instant noted_start_;
  std::string blocked_shown_;                   // the reason last sent to the agent
  std::optional<NodeExitReport> final_report_;  // set from `settling` on
  Instant write_again_at_ = Instant::never();
  // the time until which it waits for neighbours that have not received all messages
  Instant settle_until_;
  Instant look_at_lease_at_ = Instant::never();
  Instant join_at_ = Instant::never();
  Instant unpause_at_ = Instant::never();  // ranks that run until then may be frozen
  std::map<int, int> joining_;  // rank -> pid, of live ranks that are not in their cgroup yet
  // A rank and the pid of a program that was attached to it before the ranks joined their cgroups.
  std::vector<std::pair<int, int>> joining_beside_;
  std::map<int, RankHere> ranks_here_;  // the ranks that were started
  RankStandings standings_;             // the ranks' last standings, as the watch saw them
  // Processes attached to a rank that the kernel killed for memory.
  std::map<int, long long> killed_beside_;
  // the streams of rank 0, if the job has a terminal; see drain_main()
  std::unique_ptr<MainStreams> main_;
  std::optional<TransportWatch> transport_;  // set for a gang that wants RDMA
  std::vector<Why> transport_notes_;
  // true: the notes tell it, and the ranks need not be watched for it
  bool cannot_use_rdma_ = false;
  std::int64_t peer_bytes_ = 0;  // TCP bytes in the newest sample of the ranks
  bool all_in_mpi_ = false;      // from the same sample
  std::unique_ptr<AttachPlace> attach_place_;
  std::unique_ptr<Attachments> attachments_;  // set from the start of the first rank on
  std::unique_ptr<CoreFiles> cores_;  // set at the same time; null: the job asks for no core files
  bool kill_after_cores_ = false;     // the remaining processes are killed when the cores are read
  std::unique_ptr<GangWatch> gang_watch_;  // set from the gang's connection on
  std::unique_ptr<NodeWatch> node_watch_;  // set from the start of the first rank on, as the next
  std::unique_ptr<KeptStacks> kept_stacks_;
  bool is_watch_over_ = false;  // the gang is being ended: nothing is found any more
  std::set<int> others_over_;   // node ranks whose ranks have all exited with 0
  Instant lingers_since_;       // since when it watches others (watches_others()); 0: it does not
};

}  // namespace lockstep::runner
