#include "launcher/core/attempts/retry.h"

#include <algorithm>

#include "common/domain/why/jobs/ends.h"

namespace lockstep::launcher {

namespace {

bool covers(RetryOn on, Cause cause) {
  switch (on) {
    case RetryOn::infrastructure: return is_infrastructure(cause);
    case RetryOn::node_lost: return cause == Cause::node_lost || cause == Cause::preempted;
    case RetryOn::runner_lost: return cause == Cause::runner_lost;
    case RetryOn::out_of_memory: return cause == Cause::out_of_memory;
    case RetryOn::signal: return cause == Cause::signal;
    case RetryOn::timeout: return cause == Cause::timeout;
    case RetryOn::exit_code: return cause == Cause::exit_code || cause == Cause::mpi_abort;
  }
  return false;
}

// Why this failure is not charged to the job: the launcher or the machines caused it.
std::optional<Uncharged> uncharged(const Job& job, const ExitReport& report) {
  const Attempt* last = job.last_attempt();
  const bool was_revoked =
      report.cause == Cause::node_lost && last != nullptr &&
      std::any_of(last->parts.begin(), last->parts.end(),
                  [](const Part& part) { return part.gone() && part.gone()->revoked; });
  if (was_revoked) return Uncharged::node_revoked;
  if (report.cause == Cause::port_taken) return Uncharged::port_taken;
  if (report.cause == Cause::account_missing) return Uncharged::other_node;
  return std::nullopt;
}

// The causes that a job reports when its machine is taken away.
bool is_taken_away(Cause cause) {
  return cause == Cause::node_lost || cause == Cause::runner_lost || cause == Cause::preempted;
}

// True if rank 0 may have read input from its owner's terminal. A retry could not repeat that
// input.
bool has_read(const Job& job) {
  if (job.spec.terminal == TerminalKind::none || job.attempts.empty()) return false;
  const auto& report = job.attempts.back().parts.front().report;
  if (!report) return false;
  return report->state == PartState::running || report->started.ns != 0 ||
         (report->exit && report->exit->started.ns != 0);
}

// The number of attempts in a row, up to the last one, that ended with their machine and saved no
// checkpoint.
int lost_to_lifetimes(const Job& job) {
  int lost = 0;
  for (auto attempt = job.attempts.rbegin(); attempt != job.attempts.rend(); ++attempt, ++lost) {
    const auto saved = [](const Part& part) { return part.saved.has_value(); };
    const bool ended_so = attempt->ended && attempt->ended->lifetime != Duration(0);
    if (!ended_so || std::any_of(attempt->parts.begin(), attempt->parts.end(), saved)) break;
  }
  return lost;
}

}  // namespace

Why why_given_up(const Job& job, const ExitReport& report) {
  if (has_read(job) && is_retried(job.spec, report)) return InputIsGone{};
  const int lost = lost_to_lifetimes(job);
  if (report.lifetime == Duration(0) || lost <= kMostEndsOfMachines) return {};
  return MachinesEndTooEarly{report.lifetime, lost, job.spec.timeout,
                             report.time - job.attempts.back().placed};
}

bool is_retried(const RetryPolicy& policy, const ExitReport& report) {
  if (report.cause == Cause::completed || report.cause == Cause::canceled) return false;
  const bool listed = std::any_of(policy.on.begin(), policy.on.end(),
                                  [&](RetryOn on) { return covers(on, report.cause); });
  if (listed) return true;
  const auto& codes = policy.exit_codes;
  return covers(RetryOn::exit_code, report.cause) &&
         std::find(codes.begin(), codes.end(), report.exit_code) != codes.end();
}

bool is_retried(const JobSpec& spec, const ExitReport& report) {
  if (report.cause == Cause::hang) return spec.hang.on == OnHang::retry;
  return is_retried(spec.retry, report);
}

Duration backoff_before(const RetryPolicy& policy, int number) {
  const Duration longest = std::max(policy.backoff, kLongestBackoff);
  Duration wait = policy.backoff;
  for (int i = 1; i < number && wait < longest; ++i) wait *= 2;
  return std::min(wait, longest);
}

std::optional<Retry> retry_after(const Job& job, const ExitReport& report, Tier tier) {
  if (job.cancel_by || has_read(job)) return std::nullopt;
  if (report.lifetime != Duration(0)) {
    if (lost_to_lifetimes(job) > kMostEndsOfMachines) return std::nullopt;
    return Retry{false, UnchargedRetry{Uncharged::machine_ended}, {}};
  }
  if (tier == Tier::low_priority && is_taken_away(report.cause))
    return Retry{false, UnchargedRetry{Uncharged::low_priority}, {}};
  if (job.uncharged_retries < kMaxUnchargedRetries)
    if (const auto why = uncharged(job, report)) return Retry{false, UnchargedRetry{*why}, {}};
  const RetryPolicy& policy = job.spec.retry;
  if (!is_retried(job.spec, report) || job.charged_retries >= policy.max) return std::nullopt;
  const int number = job.charged_retries + 1;
  return Retry{true, ChargedRetry{number, policy.max}, backoff_before(policy, number)};
}

std::optional<CheckpointSource> newest_checkpoint(const Job& job) {
  for (auto attempt = job.attempts.rbegin(); attempt != job.attempts.rend(); ++attempt) {
    CheckpointSource source;
    source.attempt = attempt->id.number;
    bool any = false;
    for (int rank = 0; rank < attempt->size(); ++rank) {
      const Part& part = attempt->parts[static_cast<std::size_t>(rank)];
      if (!part.saved) continue;
      any = true;
      source.saved = std::max(source.saved, part.saved->at);
      if (part.report && part.report->restored) source.base = part.report->restored->tree;
      const Digest& root = *part.saved->checkpoint.tree;
      const bool known = std::any_of(source.trees.begin(), source.trees.end(),
                                     [&](const NodeTree& tree) { return tree.root == root; });
      if (!known) source.trees.push_back({rank, root});
    }
    if (any) return source;
  }
  return job.first_checkpoint;
}

}  // namespace lockstep::launcher
