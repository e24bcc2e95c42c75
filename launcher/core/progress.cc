#include "launcher/core/progress.h"

#include <algorithm>
#include <iterator>

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/events.h"
#include "launcher/core/attempts/elsewhere.h"
#include "launcher/core/attempts/merging.h"
#include "launcher/core/attempts/retry.h"
#include "launcher/core/attempts/verdict.h"
#include "launcher/core/attempts/writing.h"
#include "launcher/core/jobs/children.h"
#include "launcher/core/pipelines/pipelines.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/placement.h"
#include "launcher/core/placement/rdma_fabric.h"
#include "launcher/core/queue/dependencies.h"
#include "launcher/state/absences.h"

namespace lockstep::launcher {

namespace {

bool logs_are_empty(const NodeExitReport& exit) {
  return std::all_of(exit.logs.begin(), exit.logs.end(), [](const LogSize& size) {
    return size.stdout_bytes == 0 && size.stderr_bytes == 0 && size.environment_bytes == 0;
  });
}

JobStatus final_status(const ExitReport& report) {
  if (report.cause == Cause::completed) return JobStatus::completed;
  if (report.cause == Cause::canceled) return JobStatus::canceled;
  return JobStatus::failed;
}

bool any_node_unknown(const NodeWatches& watches, const Attempt& attempt) {
  return std::any_of(attempt.parts.begin(), attempt.parts.end(), [&watches](const Part& part) {
    // The state of a part that is gone or released no longer depends on its node.
    return part.assigned() && watches.liveness(part.node) == Liveness::unknown;
  });
}

bool is_canceled(const Endings& endings, const Job& job) {
  return job.cancel_by || endings.is_canceled(job.id);
}

// Tells the nodes the gang's table, in rows if all agents and runners know rows: one of an older
// version would not pass on the rows of others.
void form_gang(Context& core, const Attempt& attempt) {
  GangTable gang;
  bool takes_rows = true;
  std::vector<const Inventory*> inventories;
  for (const Part& part : attempt.parts) {
    const Node& node = *core.state.node(part.node);
    inventories.push_back(&node.inventory);
    GangMember member;
    member.node = node.id;
    member.hostname = node.inventory.hostname;
    member.address = node.inventory.address;
    member.host_id = node.inventory.host_id;
    member.runner_port = part.report->runner_port;
    member.runner_key = part.report->runner_key;
    member.gpus = static_cast<int>(part.allotment.gpus.size());
    gang.members.push_back(std::move(member));
    takes_rows &= part.report->gang_rows >= kGangRowsVersion;
  }
  gang.master_port = attempt.parts.front().report->master_port;
  gang.fabric = shared_fabric(inventories);
  GangFormed formed{attempt.id, std::move(gang)};
  if (takes_rows) formed.rows = digest_of(formed.attempt, formed.gang);
  core.emit(std::move(formed));
}

// Collects logs: each part of an ended attempt stays assigned until its logs are durable or given
// up.
void collect_logs(Context& core, const Attempt& attempt) {
  for (const Part& part : attempt.parts) {
    if (!part.assigned()) continue;
    const NodeExitReport& exit = *part.exit();
    if (logs_are_empty(exit) || core.state.node(part.node)->lost) {
      core.emit(PartReleased{attempt.id, part.node, !logs_are_empty(exit)});
      continue;
    }
    core.act(AwaitLogs{attempt.id, part.node, exit.logs});
    core.timers.set({TimerKey::Kind::logs, part.node, attempt.id},
                    core.clock.polled() + core.config.logs_timeout);
  }
}

void end_attempt(Context& core, const Job& job, const Attempt& attempt) {
  const ExitReport report = job.cancel_by ? canceled_report(core.state, job, core.now)
                                          : verdict(core.state, attempt, core.now);
  if (blames_program(report) && any_node_unknown(core.watches, attempt)) return;
  core.emit(AttemptEnded{attempt.id, report});
  collect_logs(core, attempt);
}

void advance_attempt(Context& core, const Job& job, const Attempt& attempt) {
  const Attempt::Tally& tally = attempt.tally;
  if (tally.ended == attempt.size()) {
    end_attempt(core, job, attempt);
    return;
  }
  if (attempt.doomed || job.cancel_by) return;
  if (tally.failed > 0)
    core.emit(
        AttemptDoomed{attempt.id, verdict(core.state, attempt, core.now), StopReason::gang_failed});
  else if (!attempt.solo() && !attempt.gang && tally.ended == 0 &&
           tally.prepared == attempt.size() && !any_node_unknown(core.watches, attempt))
    form_gang(core, attempt);
}

Tier tier_of(const State& state, const Job& job) {
  const Compute* compute = state.computes().find(job.pool);
  return compute == nullptr ? Tier::dedicated : compute->spec.scale.tier;
}

bool asks_for_what_is_wrong(const Attempt& attempt) {
  return attempt.ended && attempt.ended->cause == Cause::workspace_failed &&
         std::any_of(attempt.parts.begin(), attempt.parts.end(), [](const Part& part) {
           return part.exit() != nullptr && part.exit()->hopeless;
         });
}

// The nodes on which another attempt could succeed.
enum class RetryPlace { anywhere, elsewhere, nowhere };

RetryPlace retry_place_of(const Cluster& cluster, const Job& job) {
  const Attempt& last = job.attempts.back();
  const bool has_no_account =
      last.ended->cause == Cause::account_missing && lacks_account(cluster, job);
  if (has_no_account || asks_for_what_is_wrong(last)) return RetryPlace::nowhere;
  return nodes_without(last).empty() ? RetryPlace::anywhere : RetryPlace::elsewhere;
}

std::optional<Retry> next_try(const Cluster& cluster, const Job& job, const ExitReport& report) {
  switch (retry_place_of(cluster, job)) {
    case RetryPlace::anywhere: return retry_after(job, report, tier_of(cluster.state, job));
    case RetryPlace::elsewhere: return retry_elsewhere(cluster, job);
    case RetryPlace::nowhere: return std::nullopt;
  }
  return std::nullopt;
}

// Why the job is not retried, if the report of its last attempt does not tell that.
Why why_no_retry(const Cluster& cluster, const Job& job, const ExitReport& report) {
  switch (retry_place_of(cluster, job)) {
    case RetryPlace::elsewhere: return nor_on(cluster.state, job);
    case RetryPlace::nowhere: return {};
    case RetryPlace::anywhere: break;
  }
  if (Why given_up = why_given_up(job, report)) return given_up;
  if (!is_retried(job.spec, report) || job.attempts.size() == 1) return {};
  return GivenUpAfter{static_cast<int>(job.attempts.size())};
}

// Adds notes to the report on how the job ended.
void add_to_end(std::vector<Why> more, ExitReport& report) {
  if (!more.empty()) report.why = EndedWith{report.why, std::move(more)};
}

void conclude(Context& core, const Job& job) {
  ExitReport report = *job.attempts.back().ended;
  const Cluster cluster = core.cluster();
  if (auto retry = next_try(cluster, job, report)) {
    const Instant not_before = retry->backoff.count() > 0 ? core.now + retry->backoff : Instant{};
    core.emit(JobRequeued{job.id, job.attempts.back().id, retry->charged, std::move(retry->why),
                          not_before});
    return;
  }
  if (!job.logs_settled() || waits_for_merge(core, job, report)) return;
  std::vector<Why> more;
  if (report.cause == Cause::account_missing && lacks_account(cluster, job))
    more.emplace_back(NoNodeHasAccount{job.pool});
  if (Why no_retry = why_no_retry(cluster, job, report)) more.push_back(std::move(no_retry));
  std::vector<Why> lost = logs_not_kept(core.state, job);
  std::move(lost.begin(), lost.end(), std::back_inserter(more));
  add_to_end(std::move(more), report);
  core.emit(JobFinished{job.id, final_status(report), report});
}

// Applies the rule of the job's phase. The rule may change the phase, so none of its data is used
// afterwards.
struct Advance {
  Context& core;
  const Job& job;

  void operator()(const Job::Waiting&) const {
    if (!job.cancel_by) return advance_dependencies(core, job);
    // Readers of a final job may rely on its logs being complete, also the logs of earlier
    // attempts.
    if (!job.logs_settled()) return;
    ExitReport report = canceled_report(core.state, job, core.now);
    add_to_end(logs_not_kept(core.state, job), report);
    core.emit(JobFinished{job.id, JobStatus::canceled, std::move(report)});
  }
  void operator()(const Job::RunsSteps&) const { advance_pipeline(core, job); }
  void operator()(const Job::Placed&) const { advance_attempt(core, job, job.attempts.back()); }
  void operator()(const Job::Ending&) const { conclude(core, job); }
  void operator()(const Job::Finish&) const {}
};

}  // namespace

void advance(Context& core, const JobId& id) {
  const Job* job = core.state.job(id);
  if (job == nullptr) return;
  follow_parent(core, *job);
  std::visit(Advance{core, *job}, job->phase);
  if (!job->writes.empty()) advance_writes(core, *job);
}

void react(Context& core, const LogsDurableInput& input) {
  const Part* part = core.state.assigned_part(input.attempt, input.node);
  if (part != nullptr && core.state.attempt(input.attempt)->ended)
    core.emit(PartReleased{input.attempt, input.node});
}

void react(Context& core, const LogsGrewInput& input) {
  const Part* part = core.state.assigned_part(input.attempt, input.node);
  if (part == nullptr || part->finished()) return;
  core.watches.live_logs.set(input.attempt, input.node,
                             holders_of(core.state.job(input.attempt.job)->spec), input.bytes);
}

namespace {

constexpr Duration kSayRefusalEvery = minutes(10);

// Whether the refusal has to be reported now. `told`: when an event of this part reported it last.
bool is_to_be_told(const Context& core, Instant& told) {
  if (told.ns != 0 && core.now - told < kSayRefusalEvery) return false;
  told = core.now;
  return true;
}

// The shell reports a refusal as long as it lasts; it becomes one event.
void note_refused_logs(Context& core, const LogsRefusedInput& input) {
  NodeWatch::LogsWait& wait = core.watches.at(input.node).logs_wait[input.attempt];
  const bool is_new = wait.at.ns == 0 || core.now - wait.at > kLogsWaitKnown;
  if (is_new || wait.why != input.why) core.pending.job_changed(input.attempt.job);
  wait.why = input.why;
  wait.at = core.now;
  if (input.why.empty() || !is_to_be_told(core, wait.told)) return;
  core.record(input.attempt.job, {core.now, Event::Kind::logs_wait, input.attempt.number,
                                  input.node, LauncherTakesNoLogs{input.why}});
}

}  // namespace

// Handles refused logs. They wait for space on a full disk without a limit, unless the job was
// canceled.
void react(Context& core, const LogsRefusedInput& input) {
  if (core.state.assigned_part(input.attempt, input.node) == nullptr) return;
  note_refused_logs(core, input);
  const bool has_ended = core.state.attempt(input.attempt)->ended.has_value();
  auto& refused = core.watches.at(input.node).logs_refused;
  if (!is_canceled(core.endings, *core.state.job(input.attempt.job))) {
    refused.erase(input.attempt);
    if (has_ended)
      core.timers.set({TimerKey::Kind::logs, input.node, input.attempt},
                      core.clock.polled() + core.config.logs_timeout);
    return;
  }
  const NodeWatch::Refused begin{input.episode, core.clock.polled()};
  auto& episode = refused.try_emplace(input.attempt, begin).first->second;
  if (episode.episode != input.episode) episode = begin;
  const bool is_over = core.clock.polled() - episode.since >= core.config.space_timeout;
  if (has_ended && input.lacking > 0 && is_over)
    core.emit(PartReleased{input.attempt, input.node, true, input.lacking});
}

void react(Context& core, const OutputsRefusedInput& input) {
  if (core.state.assigned_part(input.attempt, input.node) == nullptr) return;
  if (!is_to_be_told(core, core.watches.at(input.node).outputs_refused[input.attempt])) return;
  core.record(input.attempt.job, {core.now, Event::Kind::not_kept, input.attempt.number, input.node,
                                  NewerNotKept{input.why}});
  core.pending.job_changed(input.attempt.job);
}

// Records a signal as a note of the job only, because the audit log records it permanently.
void react(Context& core, const RanksSignaledInput& input) {
  if (core.state.assigned_part(input.attempt, input.node) == nullptr) return;
  core.record(input.attempt.job, {core.now, Event::Kind::signaled, input.attempt.number, input.node,
                                  RanksSignaled{input.number, input.rank, input.by}});
}

void logs_timed_out(Context& core, const AttemptId& attempt, NodeId node) {
  const Part* part = core.state.assigned_part(attempt, node);
  if (part == nullptr || !core.state.attempt(attempt)->ended) return;
  // A node that comes back gets the full time again. A node that does not come back will soon be
  // LOST.
  if (core.watches.liveness(node) == Liveness::alive) core.emit(PartReleased{attempt, node, true});
}

void prepare_timed_out(Context& core, const AttemptId& id) {
  const Job& job = *core.state.job(id.job);
  const Attempt& attempt = *core.state.attempt(id);
  if (attempt.ended || attempt.doomed || job.cancel_by) return;
  const auto unprepared = [](const Part& part) { return !part.at_least(PartState::prepared); };
  const auto late = std::find_if(attempt.parts.begin(), attempt.parts.end(), unprepared);
  if (late == attempt.parts.end()) return;
  const NodeWatch& watch = core.watches.at(late->node);
  const auto progress = watch.progress.find(id);
  core.emit(
      AttemptDoomed{id,
                    prepare_timeout_report(core.state, attempt,
                                           progress == watch.progress.end() ? "" : progress->second,
                                           core.config.time_to_prepare(job.spec), core.now),
                    StopReason::gang_failed});
}

}  // namespace lockstep::launcher
