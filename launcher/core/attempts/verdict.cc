#include "launcher/core/attempts/verdict.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/orders.h"
#include "launcher/core/attempts/environment_locks.h"
#include "launcher/core/attempts/failures.h"
#include "launcher/core/placement/machine_end.h"
#include "launcher/state/found_state.h"

namespace lockstep::launcher {

namespace {

std::vector<int> terminated_ranks(const Attempt& attempt) {
  std::vector<int> ranks;
  for (const Part& part : attempt.parts) {
    if (part.exit() == nullptr) continue;
    for (const RankExit& rank : part.exit()->ranks)
      if (rank.terminated_by_us && rank.started) ranks.push_back(rank.rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

bool is_lost(Cause cause) { return cause == Cause::node_lost || cause == Cause::runner_lost; }

// A failure never ends with exit code 0, even MPI_Abort(0).
int failing_code(int code) { return code == 0 ? 1 : code; }

Why why_of(const RankExit& rank, const std::string& node) {
  return RankFailed{rank.rank, node, rank.cause, rank.exit_code, rank.signal, rank.why};
}

// The reason from the node that saw the failure.
Why said_of(const Failure& failure) {
  if (failure.told) return *failure.told;
  const Part& part = *failure.part;
  return part.gone() != nullptr ? part.gone()->why : part.exit()->why;
}

Why why_of(const State& state, const Attempt& attempt, const Failure& failure,
           const ExitReport& report) {
  if (report.hang) return RanksHang{named(state, attempt, *report.hang)};
  if (failure.cause == Cause::hang) return RanksHang{};
  const JobSpec& spec = state.job(attempt.id.job)->spec;
  NodeFailed failed{report.node_name, failure.cause, said_of(failure)};
  if (failure.cause == Cause::timeout) failed.timeout = spec.timeout;
  if (failure.cause == Cause::account_missing) failed.run_as = spec.run_as;
  if (failure.cause == Cause::start_failed || failure.cause == Cause::environment_failed)
    add_said_before(state, attempt, *failure.part, failed);
  return failed;
}

ExitReport report_of(const State& state, const Attempt& attempt, const Failure& failure) {
  ExitReport report;
  report.cause = failure.cause;
  report.node = failure.part->node;
  report.node_name = state.node_name(report.node);
  report.time = failure.time;
  report.terminated_ranks = terminated_ranks(attempt);
  if (failure.rank) {
    report.rank = failure.rank->rank;
    report.exit_code = failing_code(exit_code_of(*failure.rank));
    report.why = why_of(*failure.rank, report.node_name);
    report.stderr_tail = failure.rank->stderr_tail;
    report.lost_peer = failure.rank->lost_peer;
    report.backtrace = failure.rank->backtrace;
    return report;
  }
  RankExit node_exit;
  node_exit.cause = failure.cause;
  report.exit_code = failing_code(exit_code_of(node_exit));
  if (failure.cause == Cause::hang && failure.part->exit() != nullptr)
    report.hang = failure.part->exit()->hang;
  report.why = why_of(state, attempt, failure, report);
  if (failure.part->gone() && is_lost(failure.cause))
    report.lifetime = ended_with_machine(state, report.node, failure.time);
  return report;
}

// The uncertainty of a failure's time; nullopt: the clock of its node was never measured.
std::optional<Duration> uncertainty_of(const Failure& failure) {
  const auto& report = failure.part->report;
  if (failure.part->gone() || !report || !report->clock) return std::nullopt;
  return report->clock->uncertainty;
}

bool is_same(const Failure& a, const Failure& b) {
  if (a.rank && b.rank) return a.rank->rank == b.rank->rank;
  return !a.rank && !b.rank && a.cause == b.cause;  // a time-out ends all nodes at once
}

// The failures that may have happened before `first`, given how exactly the nodes' clocks are
// known. Within one node, the runner knows the order.
std::vector<const Failure*> as_early(const std::vector<Failure>& failures, const Failure& first) {
  std::vector<const Failure*> found;
  const auto known = uncertainty_of(first);
  if (!known || precedence(first) != kByTime) return found;
  for (const Failure& other : failures) {
    const auto its = uncertainty_of(other);
    if (!its || precedence(other) != kByTime || other.told) continue;
    const bool is_apart = other.time - first.time > *known + *its;
    if (other.part == first.part || is_apart || is_same(first, other)) continue;
    found.push_back(&other);
  }
  std::sort(found.begin(), found.end(),
            [](const Failure* a, const Failure* b) { return earlier(*a, *b); });
  return found;
}

// Adds to the report the failures whose order is not known.
void name_those_as_early(const State& state, const Attempt& attempt,
                         const std::vector<Failure>& failures, const Failure& first,
                         ExitReport& report) {
  const auto others = as_early(failures, first);
  if (others.empty()) return;
  Duration apart{0}, known{0};
  for (const Failure* other : others) {
    apart = std::max(apart, Duration(other->time - first.time));
    known = std::max(known, *uncertainty_of(first) + *uncertainty_of(*other));
    if (report.also.size() == kMaxPossibleFirst) continue;
    const ExitReport its = report_of(state, attempt, *other);
    report.also.push_back({its.cause, its.rank, its.node, its.node_name, its.time, its.why});
  }
  report.why = FirstOfSeveral{report.why, report.also.front().why,
                              static_cast<int>(others.size() - 1), apart, known};
}

std::vector<NodeClock> notable_clocks(const State& state, const Attempt& attempt) {
  std::vector<NodeClock> clocks;
  for (const Part& part : attempt.parts) {
    if (!part.report || !part.report->clock || clocks.size() == kMaxNodeClocks) continue;
    const ClockOffset& offset = *part.report->clock;
    if (std::chrono::abs(offset.ahead) > kNotableOffset + offset.uncertainty)
      clocks.push_back({state.node_name(part.node), offset});
  }
  return clocks;
}

// The reason that the runner gave, if it was told to stop; otherwise the order of the ends is
// unknown.
Why why_stopped(const Attempt& attempt, const std::string& node) {
  for (const Part& part : attempt.parts) {
    if (!part.failed() || part.exit() == nullptr) continue;
    const auto& by = part.exit()->aborted_by;
    if (by) return NodeEndedRanks{node, by->why};
    break;
  }
  return StoppedUnasked{node};
}

// The report for parts that failed although none failed by itself: something outside Lockstep
// stopped their ranks.
ExitReport unexplained(const State& state, const Attempt& attempt, Instant now) {
  if (attempt.doomed) {
    ExitReport report = attempt.doomed->report;
    report.terminated_ranks = terminated_ranks(attempt);
    return report;
  }
  ExitReport report;
  report.cause = Cause::start_failed;
  report.exit_code = 125;
  report.time = now;
  for (const Part& part : attempt.parts) {
    if (!part.failed()) continue;
    report.node = part.node;
    report.node_name = state.node_name(part.node);
    break;
  }
  report.why = why_stopped(attempt, report.node_name);
  report.terminated_ranks = terminated_ranks(attempt);
  return report;
}

// True if a machine was being taken away. The failures of ranks in the remaining time do not count,
// because the owner of the machine may have signalled them.
bool is_preempted(const Attempt& attempt) {
  return attempt.doomed && attempt.doomed->report.cause == Cause::preempted;
}

}  // namespace

ExitReport verdict(const State& state, const Attempt& attempt, Instant now) {
  if (is_preempted(attempt) && attempt.tally.failed > 0) return unexplained(state, attempt, now);
  const JobSpec& spec = state.job(attempt.id.job)->spec;
  std::vector<Failure> failures = failures_of(attempt, spec);
  mark_secondary(failures);
  const auto first =
      std::min_element(failures.begin(), failures.end(), [](const Failure& a, const Failure& b) {
        const int first_a = precedence(a), first_b = precedence(b);
        return first_a != first_b ? first_a < first_b : earlier(a, b);
      });
  if (first != failures.end()) {
    ExitReport report = report_of(state, attempt, *first);
    name_those_as_early(state, attempt, failures, *first, report);
    report.clocks = notable_clocks(state, attempt);
    return report;
  }
  const bool has_failed = (attempt.doomed && !is_preempted(attempt)) || attempt.tally.failed > 0;
  if (has_failed) return unexplained(state, attempt, now);
  ExitReport completed;
  completed.time = now;
  completed.why = AllRanksCompleted{};
  return completed;
}

namespace {

// Adds the outputs of a canceled attempt that could not be kept: the first in full, the others
// counted.
void add_not_kept(const State& state, const Attempt& attempt, JobCanceled& canceled) {
  for (const Part& part : attempt.parts) {
    if (!part.finished() || part.gone()) continue;
    for (const CollectedOutput& output : part.report->outputs) {
      if (output.tree || output.problems.empty()) continue;
      if (canceled.not_kept)
        ++canceled.more_not_kept;
      else
        canceled.not_kept = {output.kind, output.name, state.node_name(part.node),
                             output.problems.front()};
    }
  }
}

}  // namespace

ExitReport canceled_report(const State& state, const Job& job, Instant now) {
  ExitReport report;
  report.cause = Cause::canceled;
  report.exit_code = 130;
  report.time = now;
  JobCanceled canceled{job.cancel_by.value_or(Why()), job.is_waiting()};
  if (job.is_placed()) {
    report.terminated_ranks = terminated_ranks(job.attempts.back());
    // A verdict never names a rank that we terminated, so this rank failed before the cancel.
    const ExitReport failed = verdict(state, job.attempts.back(), now);
    if (blames_program(failed)) canceled.failed_before = failed.why;
    add_not_kept(state, job.attempts.back(), canceled);
  }
  report.why = std::move(canceled);
  return report;
}

std::vector<Why> logs_not_kept(const State& state, const Job& job) {
  std::uint64_t bytes = 0;
  std::set<NodeId> without_space, silent;
  for (const Attempt& attempt : job.attempts) {
    for (const Part& part : attempt.parts) {
      const Part::Released* released = part.released();
      if (released == nullptr || !released->lost_logs) continue;
      bytes += released->lost_logs->count;
      (released->lost_logs->count == 0 ? silent : without_space).insert(part.node);
    }
  }
  const auto first = [&](const std::set<NodeId>& nodes) { return state.node_name(*nodes.begin()); };
  const auto more = [](const std::set<NodeId>& nodes) {
    return static_cast<int>(nodes.size()) - 1;
  };
  std::vector<Why> lost;
  if (!without_space.empty())
    lost.emplace_back(LogsWithoutSpace{Bytes{bytes}, first(without_space), more(without_space)});
  if (!silent.empty()) lost.emplace_back(LogsCameLate{first(silent), more(silent)});
  return lost;
}

ExitReport prepare_timeout_report(const State& state, const Attempt& attempt,
                                  const std::string& progress, Duration limit, Instant now) {
  ExitReport report;
  report.cause = Cause::workspace_failed;
  report.exit_code = 125;
  report.time = now;
  const auto late = std::find_if(attempt.parts.begin(), attempt.parts.end(), [](const Part& part) {
    return !part.at_least(PartState::prepared);
  });
  if (late != attempt.parts.end()) report.node = late->node;
  report.node_name = state.node_name(report.node);
  report.why = NotPrepared{report.node_name, limit, progress};
  return report;
}

bool blames_program(const ExitReport& report) {
  return report.cause != Cause::completed && report.cause != Cause::canceled &&
         !is_infrastructure(report.cause);
}

}  // namespace lockstep::launcher
