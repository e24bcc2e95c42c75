// The life of a job from placed to final: rules over the state, applied to every job that changed.

#include <fmt/format.h>
#include <algorithm>

#include "launcher/core/reactor.h"
#include "launcher/core/retry.h"
#include "launcher/core/verdict.h"

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

}  // namespace

void Reactor::advance(const JobId& id) {
  const Job* job = state_.job(id);
  if (job == nullptr) return;
  switch (job->phase) {
    case Job::Phase::waiting:
      // Readers of a final job may count on its logs, those of earlier attempts too.
      if (job->cancel_by && job->logs_settled()) {
        ExitReport report = canceled_report(state_, *job, now_);
        report.message += logs_not_kept(state_, *job);
        emit(JobFinished{id, JobStatus::canceled, std::move(report)});
      }
      break;
    case Job::Phase::placed: advance_attempt(*job, job->attempts.back()); break;
    case Job::Phase::ended: conclude(*job); break;
    case Job::Phase::final: break;
  }
}

void Reactor::advance_attempt(const Job& job, const Attempt& attempt) {
  const Attempt::Tally& tally = attempt.tally;
  if (tally.ended == attempt.size()) {
    end_attempt(job, attempt);
    return;
  }
  if (attempt.doomed || job.cancel_by) return;
  if (tally.failed > 0)
    emit(AttemptDoomed{attempt.id, verdict(state_, attempt, now_), StopReason::gang_failed});
  else if (!attempt.solo() && !attempt.gang && tally.ended == 0 &&
           tally.prepared == attempt.size() && !any_node_unknown(attempt))
    form_gang(attempt);
}

void Reactor::end_attempt(const Job& job, const Attempt& attempt) {
  const ExitReport report =
      job.cancel_by ? canceled_report(state_, job, now_) : verdict(state_, attempt, now_);
  if (blames_program(report) && any_node_unknown(attempt)) return;
  emit(AttemptEnded{attempt.id, report});
  collect_logs(attempt);
}

bool Reactor::any_node_unknown(const Attempt& attempt) const {
  return std::any_of(attempt.parts.begin(), attempt.parts.end(), [this](const Part& part) {
    // What is known of a part that is gone or released does not change with its node any more.
    return part.assigned() && watches_.liveness(part.node) == Liveness::unknown;
  });
}

void Reactor::conclude(const Job& job) {
  ExitReport report = *job.attempts.back().ended;
  if (auto retry = retry_after(job, report)) {
    const Instant not_before = retry->backoff.count() > 0 ? now_ + retry->backoff : Instant{};
    emit(JobRequeued{job.id, job.attempts.back().id, retry->charged, std::move(retry->why),
                     not_before});
    return;
  }
  if (!job.logs_settled()) return;
  if (is_retried(job.spec.retry, report) && job.attempts.size() > 1)
    report.message += fmt::format(" (given up after {} attempts)", job.attempts.size());
  report.message += logs_not_kept(state_, job);
  emit(JobFinished{job.id, final_status(report), report});
}

void Reactor::form_gang(const Attempt& attempt) {
  GangTable gang;
  for (const Part& part : attempt.parts) {
    const Node& node = *state_.node(part.node);
    GangMember member;
    member.node = node.id;
    member.hostname = node.inventory.hostname;
    member.address = node.inventory.address;
    member.host_id = node.inventory.host_id;
    member.runner_port = part.report->runner_port;
    member.runner_key = part.report->runner_key;
    member.gpus = static_cast<int>(part.allotment.gpus.size());
    gang.members.push_back(std::move(member));
  }
  gang.master_port = attempt.parts.front().report->master_port;
  emit(GangFormed{attempt.id, std::move(gang)});
}

// Each part of an ended attempt stays assigned until its logs are durable here, or given up.
void Reactor::collect_logs(const Attempt& attempt) {
  for (const Part& part : attempt.parts) {
    if (!part.assigned()) continue;
    const NodeExitReport& exit = *part.report->exit;
    if (logs_are_empty(exit) || state_.node(part.node)->lost) {
      emit(PartReleased{attempt.id, part.node, !logs_are_empty(exit)});
      continue;
    }
    act(AwaitLogs{attempt.id, part.node, exit.logs});
    timers_.set({TimerKey::Kind::logs, part.node, attempt.id},
                clock_.polled() + config_.logs_timeout);
  }
}

void Reactor::on(const LogsDurableInput& input) {
  const Part* part = state_.assigned_part(input.attempt, input.node);
  if (part != nullptr && state_.attempt(input.attempt)->ended)
    emit(PartReleased{input.attempt, input.node});
}

// A full disk is waited for as long as it takes, unless somebody said that the job is of no worth.
void Reactor::on(const LogsRefusedInput& input) {
  if (state_.assigned_part(input.attempt, input.node) == nullptr) return;
  const bool has_ended = state_.attempt(input.attempt)->ended.has_value();
  auto& refused = watches_.at(input.node).logs_refused;
  if (!is_canceled(*state_.job(input.attempt.job))) {
    refused.erase(input.attempt);
    if (has_ended)
      timers_.set({TimerKey::Kind::logs, input.node, input.attempt},
                  clock_.polled() + config_.logs_timeout);
    return;
  }
  const NodeWatch::Refused begin{input.spell, clock_.polled()};
  auto& spell = refused.try_emplace(input.attempt, begin).first->second;
  if (spell.spell != input.spell) spell = begin;
  const bool is_over = clock_.polled() - spell.since >= config_.space_patience;
  if (has_ended && input.lacking > 0 && is_over)
    emit(PartReleased{input.attempt, input.node, true, input.lacking});
}

bool Reactor::is_canceled(const Job& job) const {
  return job.cancel_by || canceled_late_.count(job.id) != 0;
}

void Reactor::logs_timed_out(const AttemptId& attempt, NodeId node) {
  const Part* part = state_.assigned_part(attempt, node);
  if (part == nullptr || !state_.attempt(attempt)->ended) return;
  // A node that comes back gets its time anew; one that does not is lost before long.
  if (watches_.liveness(node) == Liveness::alive) emit(PartReleased{attempt, node, true});
}

void Reactor::prepare_timed_out(const AttemptId& id) {
  const Job& job = *state_.job(id.job);
  const Attempt& attempt = *state_.attempt(id);
  if (attempt.ended || attempt.doomed || job.cancel_by) return;
  const auto unprepared = [](const Part& part) { return !part.at_least(PartState::prepared); };
  const auto late = std::find_if(attempt.parts.begin(), attempt.parts.end(), unprepared);
  if (late == attempt.parts.end()) return;
  const NodeWatch& watch = watches_.at(late->node);
  const auto progress = watch.progress.find(id);
  emit(AttemptDoomed{id,
                     prepare_timeout_report(
                         state_, attempt, progress == watch.progress.end() ? "" : progress->second,
                         config_.time_to_prepare(job.spec), now_),
                     StopReason::gang_failed});
}

}  // namespace lockstep::launcher
