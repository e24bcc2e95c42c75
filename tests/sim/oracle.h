#pragma once
// The oracle knows what really ran: every rank's start and end on every node, as the simulation did
// it, not as anyone reported it. It checks each committed fact of the launcher, and everything that
// the agents and runners do, against that. It never influences the run.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launcher/core/base/action.h"
#include "launcher/state/state.h"
#include "tests/sim/world.h"

namespace lockstep::sim {

// The compute targets of seeds that have some: kLab has its own nodes, kLaptop is another name of
// target local.
inline constexpr const char* kLab = "lab";
inline constexpr const char* kLaptop = "laptop";
inline bool is_of_lab(int node_index) { return node_index % 2 == 1; }

// How a rank's process ended, in truth.
enum class Ending {
  ok,
  exit_code,
  signal,
  out_of_memory,
  abort,
  no_finalize,
  never_connected,
  not_found,     // never ran: exec failed
  start_failed,  // never ran: fork failed
  aftermath,     // failed because a rank on a rebooted node was gone
  killed,        // by its runner, or with its lockstep-spawn or its machine
};

struct RankTruth {
  int starts = 0;
  bool alive = false;
  bool ran = false;
  int node = 0;
  int code = 0;  // exit code or signal
  Instant started;
  Instant ended;
  Ending ending = Ending::killed;
};

// What the simulated launcher makes of the outputs of a job's nodes.
Digest merged_tree(const std::vector<NodeTree>& trees);
std::vector<MergedOutput> merge(const launcher::MergeOutputs& question);

class Oracle {
 public:
  Oracle(World& world, const launcher::State& committed) : world_(world), state_(committed) {}

  // ---- what happens in the simulation ----
  void rank_started(const Assignment& assignment, int rank, int node);
  void rank_never_ran(const AttemptId& attempt, int rank, int node, Ending ending);
  void rank_ended(const AttemptId& attempt, int rank, Ending ending, int code);
  void strays_changed(const AttemptId& attempt, int node, int strays);
  void port_was_taken(const AttemptId& attempt) { ports_taken_.insert(attempt); }
  void logs_became_durable(const AttemptId& attempt, NodeId node);
  // The launcher had no space for the logs; `episode` changes if it had space since the last call.
  void logs_refused(const AttemptId& attempt, NodeId node, std::uint64_t episode, bool is_awaited);
  void client_canceled(const JobId& job) { canceled_.insert(job); }
  void client_updates(const JobId& job, Priority priority) { updated_.insert({job, priority}); }
  void client_deletes(const JobId& job) { deleted_.insert(job); }
  // Whether the launcher gave the attempt's part up together with its node.
  bool was_lost(const AttemptId& attempt, NodeId node) const;
  // The launcher has confirmed this quota; placements are checked against it from now on.
  void quota_agreed(const SetQuota& quota) { quotas_.push_back(quota); }
  // A node that joins must get no work before an admin sends its approval.
  void approval_required() { needs_approval_ = true; }
  // If kLab is a target with its own nodes, every second node joins it (is_of_lab).
  void lab_is_created() { has_lab_ = true; }
  // The launcher decides how many machines kLab has.
  void lab_scales(const Scale& scale) { scale_ = scale; }
  const std::optional<Scale>& lab_scale() const { return scale_; }
  void machine_removed(const std::string& name);
  void client_revokes(NodeId node) { revoking_.insert(node); }
  // The node may join, under a new number, before the launcher hears of it.
  void client_detaches_by_force(int node) { detaching_.insert(node); }
  void approves(NodeId node) { approved_.insert(node); }
  void set_kept_for(Duration kept_for) { kept_for_ = kept_for; }
  void runner_told(const Assignment& assignment, NodeId node);
  // A runner of the attempt starts its ranks with this table.
  void table_used(const Assignment& assignment, const GangTable& table);
  void runner_killed(const AttemptId& attempt, WantedPhase told);
  void files_lost(int node) { files_lost_.insert(node); }  // by a reboot
  void cloned(int node) { cloned_.insert(node); }
  bool any_failed(const AttemptId& attempt) const { return failed_.count(attempt) != 0; }
  // The log files that the attempt's ranks left on the node.
  std::vector<LogSize> logs_on(const AttemptId& attempt, int node) const;
  // What the ranks left in ./outputs there: nothing if none ran, and sometimes if some did.
  std::vector<CollectedOutput> outputs_on(const AttemptId& attempt, int node) const;
  void outputs_arrived(const AttemptId& attempt, int node);
  // The agent now gives up outputs that the launcher has no space for; it has had none since
  // `no_space_since`.
  void settling(const AttemptId& attempt, int node, Instant no_space_since);
  void output_written(const launcher::WriteOutput& action);  // to the remote
  // The outputs were given up.
  void outputs_settled(const AttemptId& attempt, int node);
  // outputs_on(); after they were given up, without trees and with a problem that says so.
  std::vector<CollectedOutput> outputs_kept(const AttemptId& attempt, int node) const;
  // The attempt's ranks on the node have saved this checkpoint; checkpoint_arrived() when the
  // launcher's store has it.
  void checkpoint_written(const AttemptId& attempt, int node, const CollectedOutput& checkpoint);
  void checkpoint_arrived(const Digest& tree) { stored_.insert(tree); }
  void restored(const Assignment& assignment);
  void environment_solved(const Assignment& assignment, const std::string& platform,
                          const Digest& tree);
  void solving_failed(const Assignment& assignment, const std::string& platform, int node);
  // The attempt ends because no node could solve; `nodes`: those of the platform.
  void solving_given_up(const Assignment& assignment, const std::string& platform,
                        const std::set<int>& nodes);
  void environment_ready(const Assignment& assignment, int node, const EnvironmentReport& report);
  void runner_starts(const Assignment& assignment, int node);
  bool running(const AttemptId& attempt, int node) const;
  bool anything_runs(int node) const;
  bool logs_durable(const AttemptId& attempt, NodeId node) const {
    return durable_.count({attempt, node}) != 0;
  }

  // ---- what the launcher hears and commits ----
  void launcher_started();
  void launcher_polled(Instant at, bool stalled_before);
  void launcher_heard(NodeId node);  // the launcher accepted a message as the node's
  void disk_told(NodeId node, bool low) {
    heard_[node].low_disk = low;
    if (low) heard_[node].low_disk_lately = true;
    if (!low) heard_[node].low_disk_before = false;
  }
  // By a heartbeat of its session. From the next turn on it takes no new work.
  void notice_told(NodeId node) { noticed_.emplace(node, world_.now); }
  void boot_changed(NodeId node) { heard_[node].new_boot = true; }
  void launcher_lost(const launcher::NodeLost& fact);  // when the launcher declares a node lost
  void liveness_changed(NodeId node, Liveness now);
  // Just before `fact` is applied to the committed state.
  void committing(const launcher::StampedFact& fact);
  void committed(const launcher::StampedFact& fact);

  // ---- from time to time ----
  void check_promptness(const AttemptId& attempt);
  void set_calm(bool calm) { calm_ = calm; }
  // The spec that the person asked for, even if the launcher was sent another one.
  void job_planned(const JobId& job, const JobSpec& spec) {
    asked_[job] = spec;
    children_.erase(job);
  }
  // An attempt submits this job, which was planned before.
  void child_planned(const JobId& child, const AttemptId& parent);
  void set_limits(Duration lost_after, Duration reconnect_grace, Duration logs_timeout) {
    lost_after_ = lost_after;
    reconnect_grace_ = reconnect_grace;
    logs_timeout_ = logs_timeout;
  }
  int node_index(NodeId id) const;
  void node_joined(NodeId id, int index) { indexes_[id] = index; }

 private:
  struct Live {
    std::set<int> ranks;
    int strays = 0;
    std::set<int> cpus;
  };
  static constexpr Duration kHeardLately = seconds(2);
  struct Heard {
    Duration polled{0};   // the launcher's polled time when it last heard the node
    Instant lately_from;  // since when it has been heard without a gap of kHeardLately
    bool new_boot = false;
    bool since_start = false;
    bool low_disk = false;         // according to its last heartbeat
    bool low_disk_before = false;  // low_disk at the beginning of this turn and ever since
    bool low_disk_lately = false;  // low_disk at any time of this turn
  };

  bool was_deleted(const AttemptId& attempt) const;
  bool asks_for_lab(const JobId& job) const;
  void check_pool(const launcher::AttemptPlaced& fact);
  void judge(const launcher::AttemptPlaced& fact);
  void judge(const launcher::GangFormed& fact);
  void judge(const launcher::PartChanged& fact);
  void judge(const launcher::PartReleased& fact);
  void judge(const launcher::PartGone& fact);
  bool judge_given_up(const launcher::PartReleased& fact);
  void judge(const launcher::JobRequeued& fact);
  void judge(const launcher::JobFinished& fact);
  void judge(const launcher::AttemptEnded& fact);
  void judge(const launcher::JobDeleted& fact);
  void judge(const launcher::JobSubmitted& fact);
  void judge(const launcher::JobPriorityChanged& fact);
  void judge(const launcher::JobAnnotated& fact);
  void judge(const launcher::CheckpointSaved& fact);
  void judge(const launcher::AttemptDoomed& fact);
  void judge(const launcher::MachineWanted& fact);
  void judge(const launcher::MachineLeaving& fact);
  void judge(const launcher::OutputsMerged& fact);
  void judge(const launcher::OutputWritten& fact);
  void judge(const launcher::StepReused& fact);
  void judge(const launcher::StepSkipped& fact);
  void check_preemption(const launcher::Job& job, const launcher::JobRequeued& fact);
  template <typename T>
  void judge(const T&) {}

  struct RunsAfter {
    std::uint64_t order = 0;  // of the other job
    AfterWhen when = AfterWhen::completed;
  };
  struct Holding {  // what a part holds of a node, and until when at the latest
    std::optional<Instant> end;
    std::size_t cpus = 0;
    Bytes memory;
    bool whole = false;
  };
  void check_order(const launcher::Job& job, const launcher::AttemptPlaced& fact);
  std::size_t turn_of(const launcher::Job& job);
  bool must_go_before(const launcher::Job& other, const launcher::Job& job,
                      const launcher::AttemptPlaced& fact);
  void check_submission(const launcher::JobSubmitted& fact);
  void check_step(const launcher::JobSubmitted& fact);
  void check_child(const launcher::JobSubmitted& fact);
  void check_parent(const launcher::AttemptPlaced& fact);
  // Its parent's attempt ended in another way than completed, or is not known any more.
  bool is_orphan(const JobId& job) const;
  bool is_canceled(const JobId& job) const { return canceled_.count(job) != 0 || is_orphan(job); }
  bool is_stopped_step(const launcher::Job& job) const;
  void check_pipeline_end(const launcher::Job& job, const launcher::JobFinished& fact);
  const PipelineStep* asked_step(const JobId& pipeline, const std::string& name) const;
  std::optional<Digest> truly_made(const launcher::Job& job) const;
  void check_after(const launcher::Job& job, const launcher::AttemptPlaced& fact);
  bool is_met(const RunsAfter& after) const;
  bool can_never_run(const JobId& job);
  std::optional<Instant> end_of(const launcher::Job& job, const launcher::Attempt& attempt,
                                const launcher::Part& part);
  std::vector<Holding> holdings_of(const launcher::Node& node);
  bool has_room(const JobSpec& asked, const launcher::Node& node,
                const std::vector<Holding>& holdings, Instant then) const;
  bool gave_up_there(NodeId node) const;
  bool all_usable(const std::string& pool);
  std::optional<Instant> start_of(const launcher::Job& job, const std::map<NodeId, Holding>& more);
  void check_backfill(const launcher::Job& job, const launcher::AttemptPlaced& fact);
  void record_platform(const launcher::AttemptPlaced& fact);
  void check_platform(const Assignment& assignment, const std::string& platform);
  bool nobody_could_solve(const launcher::Job& job, const ExitReport& report) const;
  void check_quotas(const launcher::Job& job, const launcher::AttemptPlaced& fact);
  void check_fence(const AttemptId& attempt, int node);
  void check_backoff(const launcher::Job& job, const launcher::JobRequeued& fact);
  void check_source(const launcher::Job& job, const launcher::AttemptPlaced& fact);
  void check_saved(const AttemptId& attempt, NodeId node, const CollectedOutput& checkpoint);
  void check_given_up(const launcher::Job& job, const ExitReport& report);
  void check_completed(const launcher::Job& job);
  void check_blame(const launcher::Job& job, const ExitReport& report);
  void check_free(const launcher::PartPlacement& part, const AttemptId& attempt);

  World& world_;
  const launcher::State& state_;
  std::map<AttemptId, std::map<int, RankTruth>> truth_;
  std::map<std::pair<int, AttemptId>, Live> live_;  // node index
  std::set<AttemptId> failed_;
  std::set<AttemptId> ports_taken_;
  std::set<AttemptId> with_revoked_;  // attempts with a part on a node when that was revoked
  std::vector<SetQuota> quotas_;
  bool gives_up(NodeId node) const;  // somebody asked for that
  std::set<NodeId> revoking_;        // somebody asked to revoke these
  std::set<int> detaching_;          // and to detach these by force
  bool needs_approval_ = false;
  std::optional<Scale> scale_;
  bool has_lab_ = false;
  std::set<NodeId> approved_;
  std::set<JobId> canceled_;
  std::set<JobId> deleted_;  // somebody once asked to delete these
  Duration kept_for_{0};
  std::map<JobId, JobSpec> asked_;
  std::map<JobId, AttemptId> children_;           // the attempts that asked for these
  std::set<std::pair<JobId, Priority>> updated_;  // somebody once asked for these
  std::map<JobId, std::vector<RunsAfter>> runs_after_;
  std::map<std::uint64_t, JobStatus> ends_;  // by order of submission
  std::set<std::pair<AttemptId, NodeId>> durable_;
  struct Written {
    AttemptId attempt;
    int node = 0;
    std::uint64_t order = 0;
  };
  std::map<Digest, Written> written_;            // checkpoints
  std::set<Digest> stored_;                      // checkpoints in the launcher's store
  std::set<std::pair<AttemptId, int>> arrived_;  // outputs in the launcher's store, by node index
  std::map<std::pair<std::uint64_t, std::string>, Digest> remote_;  // written outputs of jobs
  std::set<std::pair<AttemptId, int>> settled_;  // outputs that were given up, by node index
  std::map<std::pair<AttemptId, NodeId>, Instant> finished_at_;
  std::map<std::pair<AttemptId, NodeId>, Duration> durable_since_;  // polled time of the launcher
  std::map<AttemptId, Duration> ended_since_;                       // polled time as well
  struct Refused {
    std::uint64_t episode = 0;
    bool is_known = false;  // at the last refusal the launcher knew of the cancel
    // Polled time of: the first refusal since somebody canceled, the first since the launcher knew
    // of that, and the last refusal.
    Duration since{0}, known_since{0}, last{0};
    std::optional<Duration> overdue;
  };
  std::map<std::pair<AttemptId, NodeId>, Refused> refused_;
  // definition, account, generation, platform
  using SolvedFor = std::tuple<Digest, std::string, std::uint64_t, std::string>;
  std::map<SolvedFor, AttemptId> solved_;
  std::map<Digest, SolvedFor> locks_;
  // (attempt, generation, platform) -> the nodes that failed to solve.
  std::map<std::tuple<AttemptId, std::uint64_t, std::string>, std::set<int>> not_solved_;
  std::map<std::tuple<AttemptId, std::uint64_t, std::string>, Digest> locks_used_;
  std::set<std::pair<AttemptId, int>> environments_ready_;
  std::map<AttemptId, std::string> lowest_;  // conda's virtual packages that all its nodes have
  Duration started_since_{0};                // polled time when the launcher started
  std::map<NodeId, int> indexes_;
  std::map<NodeId, Heard> heard_;
  std::map<NodeId, Instant> noticed_;   // since when, in the newest session
  std::map<NodeId, Instant> given_up_;  // when each node was declared lost
  std::set<int> files_lost_, cloned_;
  std::set<JobId> finished_;
  std::optional<Instant> last_poll_;
  Instant decided_;  // when the core made the fact that is being committed
  Duration polled_{0};
  Instant launcher_since_;
  bool restarted_ = false;  // the launcher started with nodes in its journal
  bool calm_ = false;
  Duration lost_after_{0}, reconnect_grace_{0}, logs_timeout_{0};
};

std::string_view to_string(Ending ending);

}  // namespace lockstep::sim
