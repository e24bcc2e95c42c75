#pragma once
// Named defects that prove that the checkers detect bugs (mutation testing). Each sits between a
// real core and its simulated shell, where it drops, alters, adds or duplicates inputs, actions or
// facts. The cores themselves are not changed.

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "agent/core/core.h"
#include "launcher/core/core.h"
#include "runner/core/core.h"

namespace lockstep::sim {

enum class Defect {
  none,
  // launcher
  acts_before_commit,
  recovery_forgets_itself,
  resume_forgets_logs,
  stall_counts_as_silence,
  logs_taken_for_durable,
  journal_loses_facts,
  journal_doubles_facts,
  heartbeats_unheard,
  low_disk_unheard,
  notice_unheard,
  preemption_without_grace,
  submission_key_ignored,
  stale_attempt_believed,
  hardware_overstated,
  drain_forgotten,
  revocation_waits_like_removal,
  removal_forgotten,
  cancel_forgotten,
  fence_not_awaited,
  backoff_ignored,
  retry_on_ignored,
  priority_ignored,
  priority_change_forgotten,
  users_mixed_up,
  head_forgotten,
  limits_understated,
  after_ignored,
  not_before_ignored,
  compaction_forgets_use,
  compaction_forgets_dependencies,
  exit_code_lost,
  desired_sent_once,
  observed_acknowledged_unread,
  compaction_spoils_parts,
  compaction_forgets_revisions,
  compaction_forgets_deleted_names,
  compaction_forgets_places,
  earlier_life_believed,
  logs_given_up_at_once,
  logs_never_given_up,
  everyone_solves,
  solving_never_passed_on,
  last_solver_untold,
  not_solved_unheard,
  compaction_forgets_not_solved,
  locks_not_told,
  lock_of_another_definition,
  highest_virtual_packages,
  compaction_forgets_virtual_packages,
  roles_ignored,
  scopes_ignored,
  revocation_unheard,
  compaction_forgets_revocations,
  approval_ignored,
  compaction_forgets_approvals,
  compaction_forgets_removed_nodes,
  compaction_forgets_revoked_parts,
  compaction_forgets_sharing,
  quota_overstated,
  isolation_ignored,
  quota_forgotten,
  compaction_forgets_quotas,
  target_of_token_ignored,
  compaction_forgets_pools,
  compaction_forgets_targets,
  machines_never_removed,
  machines_never_called_again,
  machines_gone_forgotten,
  compaction_forgets_machines,
  compaction_forgets_machines_of_nodes,
  min_instances_ignored,
  idle_machines_stay,
  preemption_charged,
  steps_do_not_wait,
  steps_released_twice,
  any_step_reused,
  force_rerun_ignored,
  outputs_merged_unheard,
  outputs_of_another_job,
  outputs_written_unheard,
  failed_writes_believed,
  failed_writes_forgotten,
  compaction_forgets_writes,
  compaction_forgets_steps,
  compaction_forgets_rows,
  old_runner_given_share,
  children_survive,
  child_of_another_user,
  // agent
  wrong_parent,
  child_not_admitted,
  digest_of_older_attempt,
  table_of_older_attempt,
  root_given_no_table,
  whole_table_for_all,
  environment_not_awaited,
  parts_forgotten_at_start,
  parts_never_removed,
  silence_of_launcher_kills,
  observed_sent_once,
  old_desired_believed,
  lost_session_ignored,
  dead_runner_completed,
  leftovers_not_killed,
  runner_started_twice,
  stop_not_told,
  outputs_not_awaited,
  outputs_given_up_at_once,
  outputs_never_given_up,
  outputs_of_another_attempt,
  outputs_of_failures_dropped,
  lease_ignored,
  lease_counted_from_answer,
  checkpoint_not_awaited,
  checkpoint_of_another_job,
  old_checkpoint_believed,
  // runner
  exit_code_taken_for_zero,
  signal_taken_for_zero,
  out_of_memory_unseen,
  abort_unheard,
  connect_unheard,
  done_peer_unheard,  // that a peer's ranks never joined
  nothing_is_killed,
  strays_survive,
  timeout_ignored,
  failed_gang_gets_no_grace,
  final_report_unwritten,
  rank_started_twice,
  ranks_start_before_gang,
  consequences_blamed,
  wrong_gang_table,
  rows_lack_one,
  rows_out_of_order,
  digest_unchecked,
  ranks_do_not_wait_for_rows,
  first_rank_speaks_for_all,
};

struct DefectInfo {
  Defect kind = Defect::none;
  std::string_view name;
};
const std::vector<DefectInfo>& all_defects();

// One per seed. Each hook may alter the inputs, actions or facts that it gets.
class Saboteur {
 public:
  explicit Saboteur(Defect defect) : defect_(defect) {}
  bool has(Defect defect) const { return defect_ == defect; }

  std::vector<agent::Input> agent_hears(agent::Input input);
  void agent_acts(std::vector<agent::Action>& actions);
  std::vector<runner::Input> runner_hears(runner::Input input);
  void runner_acts(std::vector<runner::Action>& actions);
  void passes_rows(std::vector<GangRows>& rows);  // of a table, to a child
  std::vector<launcher::Input> launcher_hears(launcher::Input input);
  void launcher_acts(std::vector<launcher::Action>& actions, bool resuming);
  int launcher_records(const launcher::StampedFact& fact);  // how often to record the fact
  void compacts(std::vector<launcher::StampedFact>& facts);

 private:
  void spoil_observed(Observed& observed);
  void spoil_report(NodeExitReport& report);
  void spoil_pipelines(launcher::Input& input);
  void spoil_child(launcher::Input& input);
  void spoil_scale(ComputeSpec& spec);
  void spoil_submission(JobSpec& spec);
  void spoil_limit(launcher::SubmitInput& submit);
  void spoil_checkpoint(PartReport& report);
  void spoil_desired(DesiredState& desired);
  void spoil_table(Assignment& assignment);
  void spoil_environment(const JobSpec& spec, EnvironmentPlan& plan);

  Defect defect_;
  std::optional<Digest> first_output_;  // that any job's outputs were merged to
  std::uint64_t counted_ = 0;
  std::map<JobId, std::vector<CollectedOutput>> first_outputs_;
  std::map<JobId, std::uint32_t> newest_;        // the newest attempt seen
  std::map<JobId, std::uint64_t> incarnations_;  // the newest incarnation seen
  std::map<AttemptId, Assignment> assignments_;  // those that agents started runners for
  std::set<std::pair<SessionId, std::uint64_t>> sent_;
  std::map<std::pair<AttemptId, NodeId>, CollectedOutput> first_checkpoints_;
  std::map<JobId, CheckpointSource> sources_;
  std::map<std::pair<JobId, int>, SharedGang> first_tables_;  // by node rank
  std::map<AttemptId, SharedGang> tables_;
  std::map<std::pair<JobId, int>, GangShare> first_shares_;
  std::map<JobId, Duration> limits_;           // as they were submitted
  std::map<SessionId, std::uint64_t> beats_;   // the newest heartbeat sent
  std::map<SessionId, HeartbeatAck> answers_;  // the newest answer received
  std::map<std::string, Digest> first_locks_;  // by platform
  std::string highest_cuda_, highest_glibc_;   // that any node reported
};

}  // namespace lockstep::sim
