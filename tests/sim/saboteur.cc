#include "tests/sim/saboteur.h"

#include <algorithm>

#include "common/base/version.h"
#include "common/domain/job/pipeline.h"

namespace lockstep::sim {

const std::vector<DefectInfo>& all_defects() {
  static const std::vector<DefectInfo> kAll = {
      {Defect::acts_before_commit, "acts_before_commit"},
      {Defect::recovery_forgets_itself, "recovery_forgets_itself"},
      {Defect::resume_forgets_logs, "resume_forgets_logs"},
      {Defect::stall_counts_as_silence, "stall_counts_as_silence"},
      {Defect::logs_taken_for_durable, "logs_taken_for_durable"},
      {Defect::journal_loses_facts, "journal_loses_facts"},
      {Defect::journal_doubles_facts, "journal_doubles_facts"},
      {Defect::heartbeats_unheard, "heartbeats_unheard"},
      {Defect::low_disk_unheard, "low_disk_unheard"},
      {Defect::notice_unheard, "notice_unheard"},
      {Defect::preemption_without_grace, "preemption_without_grace"},
      {Defect::submission_key_ignored, "submission_key_ignored"},
      {Defect::stale_attempt_believed, "stale_attempt_believed"},
      {Defect::hardware_overstated, "hardware_overstated"},
      {Defect::drain_forgotten, "drain_forgotten"},
      {Defect::revocation_waits_like_removal, "revocation_waits_like_removal"},
      {Defect::removal_forgotten, "removal_forgotten"},
      {Defect::cancel_forgotten, "cancel_forgotten"},
      {Defect::fence_not_awaited, "fence_not_awaited"},
      {Defect::backoff_ignored, "backoff_ignored"},
      {Defect::retry_on_ignored, "retry_on_ignored"},
      {Defect::priority_ignored, "priority_ignored"},
      {Defect::priority_change_forgotten, "priority_change_forgotten"},
      {Defect::users_mixed_up, "users_mixed_up"},
      {Defect::head_forgotten, "head_forgotten"},
      {Defect::limits_understated, "limits_understated"},
      {Defect::after_ignored, "after_ignored"},
      {Defect::not_before_ignored, "not_before_ignored"},
      {Defect::compaction_forgets_use, "compaction_forgets_use"},
      {Defect::compaction_forgets_dependencies, "compaction_forgets_dependencies"},
      {Defect::exit_code_lost, "exit_code_lost"},
      {Defect::desired_sent_once, "desired_sent_once"},
      {Defect::observed_acknowledged_unread, "observed_acknowledged_unread"},
      {Defect::compaction_spoils_parts, "compaction_spoils_parts"},
      {Defect::compaction_forgets_revisions, "compaction_forgets_revisions"},
      {Defect::compaction_forgets_deleted_names, "compaction_forgets_deleted_names"},
      {Defect::compaction_forgets_places, "compaction_forgets_places"},
      {Defect::earlier_life_believed, "earlier_life_believed"},
      {Defect::logs_given_up_at_once, "logs_given_up_at_once"},
      {Defect::logs_never_given_up, "logs_never_given_up"},
      {Defect::everyone_solves, "everyone_solves"},
      {Defect::solving_never_passed_on, "solving_never_passed_on"},
      {Defect::last_solver_untold, "last_solver_untold"},
      {Defect::not_solved_unheard, "not_solved_unheard"},
      {Defect::compaction_forgets_not_solved, "compaction_forgets_not_solved"},
      {Defect::locks_not_told, "locks_not_told"},
      {Defect::lock_of_another_definition, "lock_of_another_definition"},
      {Defect::highest_virtual_packages, "highest_virtual_packages"},
      {Defect::compaction_forgets_virtual_packages, "compaction_forgets_virtual_packages"},
      {Defect::roles_ignored, "roles_ignored"},
      {Defect::scopes_ignored, "scopes_ignored"},
      {Defect::revocation_unheard, "revocation_unheard"},
      {Defect::compaction_forgets_revocations, "compaction_forgets_revocations"},
      {Defect::approval_ignored, "approval_ignored"},
      {Defect::compaction_forgets_approvals, "compaction_forgets_approvals"},
      {Defect::compaction_forgets_removed_nodes, "compaction_forgets_removed_nodes"},
      {Defect::compaction_forgets_revoked_parts, "compaction_forgets_revoked_parts"},
      {Defect::compaction_forgets_sharing, "compaction_forgets_sharing"},
      {Defect::quota_overstated, "quota_overstated"},
      {Defect::isolation_ignored, "isolation_ignored"},
      {Defect::quota_forgotten, "quota_forgotten"},
      {Defect::compaction_forgets_quotas, "compaction_forgets_quotas"},
      {Defect::target_of_token_ignored, "target_of_token_ignored"},
      {Defect::compaction_forgets_pools, "compaction_forgets_pools"},
      {Defect::compaction_forgets_targets, "compaction_forgets_targets"},
      {Defect::machines_never_removed, "machines_never_removed"},
      {Defect::machines_never_called_again, "machines_never_called_again"},
      {Defect::machines_gone_forgotten, "machines_gone_forgotten"},
      {Defect::compaction_forgets_machines, "compaction_forgets_machines"},
      {Defect::compaction_forgets_machines_of_nodes, "compaction_forgets_machines_of_nodes"},
      {Defect::min_instances_ignored, "min_instances_ignored"},
      {Defect::idle_machines_stay, "idle_machines_stay"},
      {Defect::preemption_charged, "preemption_charged"},
      {Defect::steps_do_not_wait, "steps_do_not_wait"},
      {Defect::steps_released_twice, "steps_released_twice"},
      {Defect::any_step_reused, "any_step_reused"},
      {Defect::force_rerun_ignored, "force_rerun_ignored"},
      {Defect::outputs_merged_unheard, "outputs_merged_unheard"},
      {Defect::outputs_of_another_job, "outputs_of_another_job"},
      {Defect::outputs_written_unheard, "outputs_written_unheard"},
      {Defect::failed_writes_believed, "failed_writes_believed"},
      {Defect::failed_writes_forgotten, "failed_writes_forgotten"},
      {Defect::compaction_forgets_writes, "compaction_forgets_writes"},
      {Defect::compaction_forgets_steps, "compaction_forgets_steps"},
      {Defect::compaction_forgets_rows, "compaction_forgets_rows"},
      {Defect::old_runner_given_share, "old_runner_given_share"},
      {Defect::children_survive, "children_survive"},
      {Defect::child_of_another_user, "child_of_another_user"},
      {Defect::wrong_parent, "wrong_parent"},
      {Defect::child_not_admitted, "child_not_admitted"},
      {Defect::digest_of_older_attempt, "digest_of_older_attempt"},
      {Defect::table_of_older_attempt, "table_of_older_attempt"},
      {Defect::root_given_no_table, "root_given_no_table"},
      {Defect::whole_table_for_all, "whole_table_for_all"},
      {Defect::environment_not_awaited, "environment_not_awaited"},
      {Defect::parts_forgotten_at_start, "parts_forgotten_at_start"},
      {Defect::parts_never_removed, "parts_never_removed"},
      {Defect::silence_of_launcher_kills, "silence_of_launcher_kills"},
      {Defect::observed_sent_once, "observed_sent_once"},
      {Defect::old_desired_believed, "old_desired_believed"},
      {Defect::lost_session_ignored, "lost_session_ignored"},
      {Defect::dead_runner_completed, "dead_runner_completed"},
      {Defect::leftovers_not_killed, "leftovers_not_killed"},
      {Defect::runner_started_twice, "runner_started_twice"},
      {Defect::stop_not_told, "stop_not_told"},
      {Defect::outputs_not_awaited, "outputs_not_awaited"},
      {Defect::outputs_given_up_at_once, "outputs_given_up_at_once"},
      {Defect::outputs_never_given_up, "outputs_never_given_up"},
      {Defect::outputs_of_another_attempt, "outputs_of_another_attempt"},
      {Defect::outputs_of_failures_dropped, "outputs_of_failures_dropped"},
      {Defect::lease_ignored, "lease_ignored"},
      {Defect::lease_counted_from_answer, "lease_counted_from_answer"},
      {Defect::checkpoint_not_awaited, "checkpoint_not_awaited"},
      {Defect::checkpoint_of_another_job, "checkpoint_of_another_job"},
      {Defect::old_checkpoint_believed, "old_checkpoint_believed"},
      {Defect::exit_code_taken_for_zero, "exit_code_taken_for_zero"},
      {Defect::signal_taken_for_zero, "signal_taken_for_zero"},
      {Defect::out_of_memory_unseen, "out_of_memory_unseen"},
      {Defect::abort_unheard, "abort_unheard"},
      {Defect::connect_unheard, "connect_unheard"},
      {Defect::done_peer_unheard, "done_peer_unheard"},
      {Defect::nothing_is_killed, "nothing_is_killed"},
      {Defect::strays_survive, "strays_survive"},
      {Defect::timeout_ignored, "timeout_ignored"},
      {Defect::failed_gang_gets_no_grace, "failed_gang_gets_no_grace"},
      {Defect::final_report_unwritten, "final_report_unwritten"},
      {Defect::rank_started_twice, "rank_started_twice"},
      {Defect::ranks_start_before_gang, "ranks_start_before_gang"},
      {Defect::consequences_blamed, "consequences_blamed"},
      {Defect::wrong_gang_table, "wrong_gang_table"},
      {Defect::rows_lack_one, "rows_lack_one"},
      {Defect::rows_out_of_order, "rows_out_of_order"},
      {Defect::digest_unchecked, "digest_unchecked"},
      {Defect::ranks_do_not_wait_for_rows, "ranks_do_not_wait_for_rows"},
      {Defect::first_rank_speaks_for_all, "first_rank_speaks_for_all"},
  };
  return kAll;
}

namespace {

template <typename T, typename Variant>
void swallow(std::vector<Variant>& list) {
  std::erase_if(list, [](const Variant& item) { return std::holds_alternative<T>(item); });
}

void raise(std::string& highest, const std::string& version) {
  if (version_numbers(highest) < version_numbers(version)) highest = version;
}

template <typename T, typename Variant>
void repeat(std::vector<Variant>& list) {
  const std::vector<Variant> passing = list;
  for (const auto& item : passing)
    if (std::holds_alternative<T>(item)) list.push_back(item);
}

}  // namespace

// ---- launcher ----------------------------------------------------------------------------------

void Saboteur::spoil_submission(JobSpec& spec) {
  if (has(Defect::fence_not_awaited)) spec.retry.on_lost = OnLost::immediately;
  if (has(Defect::backoff_ignored)) spec.retry.backoff = Duration::zero();
  if (has(Defect::isolation_ignored)) spec.resources.isolated = false;
  if (has(Defect::retry_on_ignored)) spec.retry.on = {RetryOn::infrastructure};
  if (has(Defect::priority_ignored)) spec.queue.priority = Priority::medium;
  if (has(Defect::after_ignored)) spec.queue.after.clear();
  if (has(Defect::not_before_ignored)) spec.queue.delay = Duration::zero();
}

// For every other job the launcher reckons with a tenth of the limit that the nodes enforce.
void Saboteur::spoil_limit(launcher::SubmitInput& submit) {
  if (!has(Defect::limits_understated) || !submit.spec.timeout) return;
  const JobId job(submit.spec.name.empty() ? submit.generated_name : submit.spec.name);
  if (job.value.back() % 2 == 0) return;
  limits_[job] = *submit.spec.timeout;
  submit.spec.timeout = *submit.spec.timeout / 10;
}

// A part's first checkpoint is told again and again as its newest.
void Saboteur::spoil_checkpoint(PartReport& report) {
  for (CollectedOutput& output : report.outputs) {
    if (output.kind != OutputKind::checkpoint || !output.tree) continue;
    const auto order = output.order;
    output = first_checkpoints_.emplace(std::pair(report.attempt, NodeId(0)), output).first->second;
    output.order = order;
  }
}

void Saboteur::spoil_observed(Observed& observed) {
  for (auto& report : observed.parts) {
    if (has(Defect::old_runner_given_share)) report.gang_rows = kGangRowsVersion;
    if (has(Defect::old_checkpoint_believed)) spoil_checkpoint(report);
    auto& newest = newest_[report.attempt.job];
    newest = std::max(newest, report.attempt.number);
    if (has(Defect::stale_attempt_believed)) report.attempt.number = newest;
    auto& incarnation = incarnations_[report.attempt.job];
    incarnation = std::max(incarnation, report.attempt.incarnation);
    if (has(Defect::earlier_life_believed)) report.attempt.incarnation = incarnation;
    using Step = EnvironmentReport::Step;
    if (has(Defect::not_solved_unheard) && report.environment &&
        report.environment->step == Step::not_solved)
      report.environment->step = Step::wants_lock;
    if (has(Defect::exit_code_lost) && report.exit)
      for (auto& rank : report.exit->ranks)
        if (rank.exit_code != 0) rank.exit_code = 1;
    if (has(Defect::outputs_of_another_attempt) && !report.outputs.empty())
      report.outputs = first_outputs_.emplace(report.attempt.job, report.outputs).first->second;
    if (has(Defect::outputs_of_failures_dropped) && report.exit &&
        report.exit->cause != Cause::completed)
      report.outputs.clear();
  }
  const auto over = [](const PartReport& report) { return report.state == PartState::finished; };
  if (has(Defect::observed_acknowledged_unread) && ++counted_ % 5 == 0)
    std::erase_if(observed.parts, over);
}

void Saboteur::spoil_scale(ComputeSpec& spec) {
  if (!is_elastic(spec)) return;
  if (has(Defect::min_instances_ignored)) spec.scale.min_instances = 0;
  if (has(Defect::idle_machines_stay)) spec.scale.idle_time = kMaxIdleTime;
  if (has(Defect::preemption_charged)) spec.scale.tier = Tier::dedicated;
}

void Saboteur::spoil_pipelines(launcher::Input& input) {
  if (auto* merged = std::get_if<launcher::OutputsMergedInput>(&input))
    if (has(Defect::outputs_of_another_job))
      for (MergedOutput& output : merged->outputs) {
        if (output.tree && !first_output_) first_output_ = output.tree;
        if (output.tree) output.tree = first_output_;
      }
  if (auto* written = std::get_if<launcher::OutputWrittenInput>(&input))
    if (has(Defect::failed_writes_believed)) written->why_not = {};
  auto* submit = std::get_if<launcher::SubmitInput>(&input);
  if (submit == nullptr || !submit->spec.pipeline) return;
  PipelineSpec pipeline = *submit->spec.pipeline;
  for (PipelineStep& step : pipeline.steps) {
    if (has(Defect::steps_do_not_wait)) {
      step.bindings.clear();
      step.spec.data.clear();
    }
    if (has(Defect::any_step_reused)) step.spec.inputs.clear();
    if (has(Defect::force_rerun_ignored)) step.reuse = true;
  }
  submit->spec.pipeline = std::move(pipeline);
}

// Its parent's key counts as its owner's, or as somebody else's.
void Saboteur::spoil_child(launcher::Input& input) {
  auto* submit = std::get_if<launcher::SubmitInput>(&input);
  if (submit == nullptr) return;
  const auto* attempt = std::get_if<launcher::AttemptCaller>(&submit->caller);
  if (attempt == nullptr) return;
  if (has(Defect::children_survive))
    submit->caller = launcher::UserCaller{attempt->owner};
  else if (has(Defect::child_of_another_user))
    submit->caller = launcher::UserCaller{"ada"};
}

std::vector<launcher::Input> Saboteur::launcher_hears(launcher::Input input) {
  if (auto* observed = std::get_if<launcher::ObservedInput>(&input))
    spoil_observed(observed->observed);
  if (auto* submit = std::get_if<launcher::SubmitInput>(&input)) spoil_submission(submit->spec);
  if (auto* submit = std::get_if<launcher::SubmitInput>(&input)) spoil_limit(*submit);
  if (has(Defect::users_mixed_up))
    if (auto* submit = std::get_if<launcher::SubmitInput>(&input))
      submit->caller = launcher::UserCaller{"ada"};
  if (has(Defect::submission_key_ignored))
    if (auto* submit = std::get_if<launcher::SubmitInput>(&input))
      submit->submission += "-" + std::to_string(++counted_);
  if (has(Defect::hardware_overstated))
    if (auto* session = std::get_if<launcher::SessionInput>(&input))
      session->open.inventory.cpus = {0, 1, 2, 3, 4, 5, 6, 7};
  if (const auto* session = std::get_if<launcher::SessionInput>(&input)) {
    raise(highest_cuda_, session->open.inventory.cuda);
    raise(highest_glibc_, session->open.inventory.glibc);
  }
  if (has(Defect::drain_forgotten))
    if (auto* drain = std::get_if<launcher::DrainInput>(&input)) drain->drain = false;
  if (has(Defect::revocation_waits_like_removal))
    if (auto* remove = std::get_if<launcher::RemoveNodeInput>(&input)) remove->now = false;
  if (has(Defect::approval_ignored))
    if (auto* token = std::get_if<launcher::TokenInput>(&input)) token->approval = Approval::waived;
  if (has(Defect::target_of_token_ignored))
    if (auto* token = std::get_if<launcher::TokenInput>(&input)) token->compute.clear();
  if (has(Defect::quota_overstated))
    if (auto* change = std::get_if<launcher::PrincipalInput>(&input))
      if (auto* quota = std::get_if<SetQuota>(&change->ask))
        for (auto& [limit, value] : quota->set) value += 4;
  if (auto* compute = std::get_if<launcher::ComputeInput>(&input))
    if (auto* create = std::get_if<CreateCompute>(&compute->ask)) spoil_scale(create->spec);
  if (has(Defect::notice_unheard)) {
    if (auto* beat = std::get_if<launcher::HeartbeatInput>(&input)) beat->beat.notice.reset();
    if (auto* session = std::get_if<launcher::SessionInput>(&input)) session->open.notice.reset();
  }
  if (has(Defect::low_disk_unheard))
    if (auto* beat = std::get_if<launcher::HeartbeatInput>(&input)) beat->beat.low_disk = {};
  if (has(Defect::roles_ignored))
    if (auto* drain = std::get_if<launcher::DrainInput>(&input))
      drain->caller = launcher::LauncherItself{};
  if (has(Defect::scopes_ignored))
    if (auto* principal = std::get_if<launcher::PrincipalInput>(&input))
      if (auto* added = std::get_if<AddUser>(&principal->ask))
        added->grant.project = kDefaultProject;
  spoil_pipelines(input);
  spoil_child(input);
  std::vector<launcher::Input> inputs{std::move(input)};
  if (has(Defect::outputs_written_unheard)) swallow<launcher::OutputWrittenInput>(inputs);
  if (has(Defect::failed_writes_forgotten))
    std::erase_if(inputs, [](const launcher::Input& one) {
      const auto* written = std::get_if<launcher::OutputWrittenInput>(&one);
      return written != nullptr && bool(written->why_not);
    });
  if (has(Defect::outputs_merged_unheard)) swallow<launcher::OutputsMergedInput>(inputs);
  if (has(Defect::logs_never_given_up)) swallow<launcher::LogsRefusedInput>(inputs);
  if (has(Defect::heartbeats_unheard)) swallow<launcher::HeartbeatInput>(inputs);
  if (has(Defect::machines_never_called_again)) swallow<launcher::ProviderEndedInput>(inputs);
  return inputs;
}

void Saboteur::launcher_acts(std::vector<launcher::Action>& actions, bool resuming) {
  if (has(Defect::resume_forgets_logs) && resuming) swallow<launcher::AwaitLogs>(actions);
  // Then only an accepted session carries it.
  if (has(Defect::desired_sent_once)) swallow<launcher::SendDesired>(actions);
  if (has(Defect::revocation_unheard)) swallow<launcher::RevokeUser>(actions);
  if (has(Defect::machines_never_removed))
    std::erase_if(actions, [](const launcher::Action& action) {
      const auto* call = std::get_if<launcher::CallProvider>(&action);
      return call != nullptr && call->verb == launcher::ProviderVerb::remove;
    });
}

int Saboteur::launcher_records(const launcher::StampedFact& fact) {
  if (has(Defect::journal_loses_facts))
    return std::holds_alternative<launcher::PartChanged>(fact.fact) && ++counted_ % 10 == 0 ? 0 : 1;
  if (has(Defect::journal_doubles_facts))
    return std::holds_alternative<launcher::JobRequeued>(fact.fact) ? 2 : 1;
  if (has(Defect::quota_forgotten))
    return std::holds_alternative<launcher::QuotaSet>(fact.fact) ? 0 : 1;
  if (has(Defect::machines_gone_forgotten))
    return std::holds_alternative<launcher::MachineGone>(fact.fact) ? 0 : 1;
  if (has(Defect::head_forgotten))
    return std::holds_alternative<launcher::JobAtHead>(fact.fact) ? 0 : 1;
  if (has(Defect::priority_change_forgotten))
    return std::holds_alternative<launcher::JobPriorityChanged>(fact.fact) ? 0 : 1;
  if (has(Defect::removal_forgotten))
    return std::holds_alternative<launcher::NodeRemoved>(fact.fact) ? 0 : 1;
  if (has(Defect::steps_released_twice)) {
    const auto* submitted = std::get_if<launcher::JobSubmitted>(&fact.fact);
    return submitted != nullptr && !submitted->spec.step.empty() ? 2 : 1;
  }
  if (has(Defect::cancel_forgotten))
    return std::holds_alternative<launcher::CancelRequested>(fact.fact) ? 0 : 1;
  return 1;
}

void Saboteur::compacts(std::vector<launcher::StampedFact>& facts) {
  const auto erase = [&]<typename T>(T*, bool last_only) {
    for (auto it = facts.end(); it != facts.begin();) {
      --it;
      if (!std::holds_alternative<T>(it->fact)) continue;
      it = facts.erase(it);
      if (last_only) return;
    }
  };
  if (has(Defect::compaction_spoils_parts))
    for (auto& fact : facts)
      if (auto* part = std::get_if<launcher::PartReleased>(&fact.fact)) part->lost_bytes += 1;
  if (has(Defect::compaction_forgets_steps)) {
    erase(static_cast<launcher::StepReused*>(nullptr), false);
    erase(static_cast<launcher::StepSkipped*>(nullptr), true);
  }
  if (has(Defect::compaction_forgets_rows))
    for (auto& fact : facts)
      if (auto* formed = std::get_if<launcher::GangFormed>(&fact.fact)) formed->rows.reset();
  if (has(Defect::compaction_forgets_writes))
    erase(static_cast<launcher::OutputWritten*>(nullptr), false);
  if (has(Defect::compaction_forgets_revisions))
    erase(static_cast<launcher::NodeRevised*>(nullptr), false);
  if (has(Defect::compaction_forgets_deleted_names))
    erase(static_cast<launcher::JobDeleted*>(nullptr), false);
  if (has(Defect::compaction_forgets_approvals))
    erase(static_cast<launcher::NodeApproved*>(nullptr), true);
  if (has(Defect::compaction_forgets_removed_nodes))
    erase(static_cast<launcher::NodeRemoved*>(nullptr), true);
  if (has(Defect::compaction_forgets_revoked_parts))
    for (auto& fact : facts)
      if (auto* gone = std::get_if<launcher::PartGone>(&fact.fact)) gone->revoked = false;
  if (has(Defect::compaction_forgets_sharing))
    erase(static_cast<launcher::JobShared*>(nullptr), true);
  if (has(Defect::compaction_forgets_use))
    erase(static_cast<launcher::RecentUseSet*>(nullptr), true);
  if (has(Defect::compaction_forgets_dependencies))
    erase(static_cast<launcher::DependencyMet*>(nullptr), true);
  if (has(Defect::compaction_forgets_quotas))
    erase(static_cast<launcher::QuotaSet*>(nullptr), true);
  if (has(Defect::compaction_forgets_targets))
    erase(static_cast<launcher::ComputeCreated*>(nullptr), false);
  if (has(Defect::compaction_forgets_machines))
    erase(static_cast<launcher::MachineWanted*>(nullptr), true);
  if (has(Defect::compaction_forgets_machines_of_nodes))
    for (auto& fact : facts)
      if (auto* joined = std::get_if<launcher::NodeJoined>(&fact.fact)) joined->machine.clear();
  if (has(Defect::compaction_forgets_pools))
    for (auto& fact : facts)
      if (auto* joined = std::get_if<launcher::NodeJoined>(&fact.fact)) joined->pool.clear();
  if (has(Defect::compaction_forgets_not_solved))
    erase(static_cast<launcher::EnvironmentNotSolved*>(nullptr), false);
  if (has(Defect::compaction_forgets_revocations))
    erase(static_cast<launcher::UserKeyRevoked*>(nullptr), false);
  if (has(Defect::compaction_forgets_virtual_packages))
    for (auto& fact : facts)
      if (auto* placed = std::get_if<launcher::AttemptPlaced>(&fact.fact))
        placed->virtual_packages.clear();
  if (!has(Defect::compaction_forgets_places)) return;
  for (auto& fact : facts)
    if (auto* submitted = std::get_if<launcher::JobSubmitted>(&fact.fact)) submitted->order = 0;
}

// ---- agent -------------------------------------------------------------------------------------

void Saboteur::spoil_environment(const JobSpec& spec, EnvironmentPlan& plan) {
  if (has(Defect::everyone_solves) && spec.environment) plan.solve = plan.locks.empty();
  if (has(Defect::solving_never_passed_on)) plan.others_may_solve = false;
  if (has(Defect::last_solver_untold)) plan.others_may_solve = plan.solve;
  if (has(Defect::locks_not_told)) plan.locks.clear();
  if (has(Defect::lock_of_another_definition))
    for (EnvironmentLock& lock : plan.locks)
      lock.tree = first_locks_.emplace(lock.platform, lock.tree).first->second;
  if (has(Defect::highest_virtual_packages) && !plan.virtual_packages.empty())
    plan.virtual_packages = {"__cuda=" + highest_cuda_, "__glibc=" + highest_glibc_};
}

// Of what a node of a gang is told of its table.
void Saboteur::spoil_table(Assignment& assignment) {
  if (!assignment.share) return;
  GangShare& share = *assignment.share;
  const std::pair place(assignment.attempt.job, assignment.node_rank);
  const GangShare& first = first_shares_.emplace(place, share).first->second;
  if (has(Defect::digest_of_older_attempt)) share.digest = first.digest;
  if (has(Defect::child_not_admitted) && !share.children.empty()) share.children.pop_back();
  if (has(Defect::wrong_parent) && share.parent) share.parent->runner_port += 1;
  if (!assignment.gang) {
    const auto whole = tables_.find(assignment.attempt);
    if (has(Defect::whole_table_for_all) && whole != tables_.end()) assignment.gang = whole->second;
    return;
  }
  tables_[assignment.attempt] = assignment.gang;
  const SharedGang& older = first_tables_.emplace(place, assignment.gang).first->second;
  if (has(Defect::table_of_older_attempt)) assignment.gang = older;
  if (has(Defect::root_given_no_table)) assignment.gang = {};
}

void Saboteur::spoil_desired(DesiredState& desired) {
  for (Assignment& assignment : desired.assignments) {
    spoil_table(assignment);
    if (has(Defect::lease_ignored)) assignment.lease = Duration::zero();
    if (has(Defect::preemption_without_grace) && assignment.phase == WantedPhase::stop &&
        assignment.stop_reason == StopReason::superseded)
      assignment.grace = Duration::zero();
    if (const auto limit = limits_.find(assignment.attempt.job); limit != limits_.end())
      assignment.spec.timeout = limit->second;
    spoil_environment(assignment.spec, assignment.environment);
    if (!has(Defect::checkpoint_of_another_job) || !assignment.checkpoint) continue;
    sources_.emplace(assignment.attempt.job, *assignment.checkpoint);
    assignment.checkpoint = sources_.begin()->second;
  }
}

std::vector<agent::Input> Saboteur::agent_hears(agent::Input input) {
  if (auto* heard = std::get_if<agent::FromLauncher>(&input)) {
    if (auto* accepted = std::get_if<SessionAccepted>(&heard->message))
      spoil_desired(accepted->desired);
    if (auto* wanted = std::get_if<Desired>(&heard->message)) spoil_desired(wanted->desired);
    if (auto* ack = std::get_if<HeartbeatAck>(&heard->message)) answers_[ack->session] = *ack;
    auto* desired = std::get_if<Desired>(&heard->message);
    if (has(Defect::old_desired_believed) && desired != nullptr)
      desired->desired.revision = 1'000'000 + ++counted_;
    if (has(Defect::lost_session_ignored) && std::holds_alternative<SessionLost>(heard->message))
      return {};
  }
  // An answer comes twice, late, and is taken for that of the newest heartbeat.
  if (has(Defect::lease_counted_from_answer) && std::holds_alternative<agent::Tick>(input)) {
    std::vector<agent::Input> inputs{input};
    for (auto& [session, answer] : answers_) {
      answer.number = beats_[session];
      inputs.push_back(agent::FromLauncher{answer});
    }
    return inputs;
  }
  if (auto* recovered = std::get_if<agent::Recovered>(&input))
    if (has(Defect::parts_forgotten_at_start)) recovered->parts.clear();
  if (auto* gone = std::get_if<agent::RunnerGone>(&input)) {
    if (has(Defect::dead_runner_completed)) {
      PartReport report;
      report.attempt = gone->attempt;
      report.state = PartState::finished;
      report.exit.emplace();
      const auto& assignment = assignments_[gone->attempt];
      for (int i = 0; i < assignment.ranks_here(); ++i) {
        RankExit exit;
        exit.rank = assignment.first_rank() + i;
        report.exit->ranks.push_back(exit);
      }
      return {agent::RunnerReported{gone->attempt, report}};
    }
  }
  return {std::move(input)};
}

void Saboteur::agent_acts(std::vector<agent::Action>& actions) {
  for (const auto& action : actions)
    if (const auto* sent = std::get_if<agent::SendHeartbeat>(&action))
      beats_[sent->beat.session] = sent->beat.number;
  for (const auto& action : actions)
    if (const auto* start = std::get_if<agent::StartRunner>(&action))
      assignments_[start->assignment.attempt] = start->assignment;
  if (has(Defect::environment_not_awaited))
    for (agent::Action& action : actions)
      if (const auto* prepare = std::get_if<agent::PrepareEnvironment>(&action))
        action = agent::StartRunner{prepare->assignment};
  if (has(Defect::parts_never_removed)) swallow<agent::RemovePart>(actions);
  if (has(Defect::outputs_never_given_up)) swallow<agent::SettleOutputs>(actions);
  if (has(Defect::outputs_given_up_at_once)) {
    const std::vector<agent::Action> passing = actions;
    for (const auto& action : passing)
      if (const auto* collect = std::get_if<agent::CollectOutputs>(&action))
        actions.push_back(agent::SettleOutputs{collect->assignment.attempt});
  }
  if (has(Defect::leftovers_not_killed)) swallow<agent::KillRunner>(actions);
  if (has(Defect::lost_session_ignored)) swallow<agent::Reconnect>(actions);
  if (has(Defect::runner_started_twice)) repeat<agent::StartRunner>(actions);
  if (has(Defect::silence_of_launcher_kills)) {
    const auto silent = [](const agent::Action& action) {
      return std::holds_alternative<agent::Reconnect>(action);
    };
    if (std::any_of(actions.begin(), actions.end(), silent))
      for (const auto& [attempt, assignment] : assignments_)
        actions.push_back(agent::KillRunner{attempt});
  }
  std::erase_if(actions, [this](const agent::Action& action) {
    if (const auto* told = std::get_if<agent::UpdateRunner>(&action))
      return has(Defect::stop_not_told) && told->assignment.phase == WantedPhase::stop;
    if (const auto* sent = std::get_if<agent::SendObserved>(&action))
      return has(Defect::observed_sent_once) &&
             !sent_.insert({sent->observed.session, sent->observed.sequence}).second;
    return false;
  });
}

// ---- runner ------------------------------------------------------------------------------------

std::vector<runner::Input> Saboteur::runner_hears(runner::Input input) {
  if (auto* begin = std::get_if<runner::Begin>(&input)) {
    if (has(Defect::timeout_ignored)) begin->assignment.spec.timeout.reset();
    assignments_[begin->assignment.attempt] = begin->assignment;
  }
  if (auto* exited = std::get_if<runner::RankExited>(&input)) {
    if (has(Defect::exit_code_taken_for_zero)) exited->exit_code = 0;
    if (has(Defect::signal_taken_for_zero)) exited->signal = 0;
    if (has(Defect::out_of_memory_unseen)) exited->oom = false;
    if (has(Defect::first_rank_speaks_for_all) && exited->exit_code == 0 && exited->signal == 0) {
      std::vector<runner::Input> all;
      for (int rank = exited->rank - 3; rank <= exited->rank + 3; ++rank)
        all.push_back(runner::RankExited{rank, 0, 0, false});
      return all;
    }
  }
  if (has(Defect::timeout_ignored))
    if (auto* changed = std::get_if<runner::AssignmentChanged>(&input))
      changed->assignment.spec.timeout.reset();
  if (auto* changed = std::get_if<runner::AssignmentChanged>(&input))
    if (has(Defect::failed_gang_gets_no_grace) &&
        changed->assignment.stop_reason == StopReason::gang_failed)
      changed->assignment.grace = std::min<Duration>(changed->assignment.grace, seconds(1));
  std::vector<runner::Input> inputs{std::move(input)};
  if (has(Defect::abort_unheard)) swallow<runner::RankAborted>(inputs);
  if (has(Defect::connect_unheard)) swallow<runner::RankConnected>(inputs);
  if (has(Defect::done_peer_unheard)) swallow<runner::PeerDone>(inputs);
  return inputs;
}

void Saboteur::spoil_report(NodeExitReport& report) {
  for (auto& rank : report.ranks) {
    if (!rank.terminated_by_us || !rank.started) continue;
    rank.terminated_by_us = false;
    report.first_failed_rank = rank.rank;
    report.cause = rank.cause;
  }
}

void Saboteur::passes_rows(std::vector<GangRows>& rows) {
  if (has(Defect::rows_lack_one)) rows.front().rows.erase(rows.front().rows.begin());
  if (has(Defect::rows_out_of_order)) std::reverse(rows.begin(), rows.end());
}

void Saboteur::runner_acts(std::vector<runner::Action>& actions) {
  if (has(Defect::nothing_is_killed)) {
    swallow<runner::SignalRanks>(actions);
    swallow<runner::KillEverything>(actions);
  }
  if (has(Defect::strays_survive)) swallow<runner::KillEverything>(actions);
  if (has(Defect::final_report_unwritten)) swallow<runner::WriteFinalReport>(actions);
  if (has(Defect::rank_started_twice)) repeat<runner::StartRank>(actions);
  const std::vector<runner::Action> passing = actions;
  for (auto& action : actions) {
    auto* connect = std::get_if<runner::ConnectGang>(&action);
    if (has(Defect::wrong_gang_table) && connect != nullptr && connect->gang) {
      GangTable table = *connect->gang;
      std::reverse(table.members.begin(), table.members.end());
      connect->gang = std::move(table);
    }
    if (!has(Defect::consequences_blamed)) continue;
    if (auto* report = std::get_if<runner::Report>(&action))
      if (report->report.exit) spoil_report(*report->report.exit);
    if (auto* report = std::get_if<runner::WriteFinalReport>(&action)) spoil_report(report->report);
  }
  if (!has(Defect::ranks_start_before_gang)) return;
  for (const auto& action : passing) {
    const auto* lease = std::get_if<runner::LeasePorts>(&action);
    if (lease != nullptr) actions.push_back(runner::StartRank{lease->master_port ? 0 : 1, 0});
  }
}

}  // namespace lockstep::sim
