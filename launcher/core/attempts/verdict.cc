#include "launcher/core/attempts/verdict.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/orders.h"
#include "launcher/core/attempts/environment_locks.h"
#include "launcher/core/placement/machine_end.h"
#include "launcher/state/found_state.h"

namespace lockstep::launcher {

namespace {

// One thing that failed by itself. `rank` is absent when a node as a whole failed.
struct Failure {
  Instant time;
  int node_rank = 0;
  const Part* part = nullptr;
  std::optional<RankExit> rank;
  Cause cause = Cause::completed;
  // Why, if another node told it; the node's own report is still on its way.
  std::optional<Why> told = {};
  // Its last words are of a peer that had gone, and that has failed too.
  bool is_secondary = false;
};

bool earlier(const Failure& a, const Failure& b) {
  const int rank_a = a.rank ? a.rank->rank : -1;
  const int rank_b = b.rank ? b.rank->rank : -1;
  return std::tie(a.time, a.node_rank, rank_a) < std::tie(b.time, b.node_rank, rank_b);
}

// True when only a rank can be at fault, so that a node's report must name one.
bool belongs_to_rank(Cause cause) {
  switch (cause) {
    case Cause::exit_code:
    case Cause::signal:
    case Cause::out_of_memory:
    case Cause::mpi_abort:
    case Cause::exit_without_finalize:
    case Cause::never_connected:
    case Cause::command_not_found:
    case Cause::command_not_executable: return true;
    case Cause::completed:
    case Cause::timeout:
    case Cause::canceled:
    case Cause::workspace_failed:
    case Cause::start_failed:
    case Cause::port_taken:
    case Cause::runner_lost:
    case Cause::node_lost:
    case Cause::account_missing:
    case Cause::environment_failed:
    case Cause::disk_limit:
    case Cause::preempted:
    case Cause::hang:
    case Cause::no_rdma: return false;
  }
  return false;
}

bool failed_by_itself(const RankExit& rank) {
  return rank.cause != Cause::completed && rank.cause != Cause::canceled && !rank.terminated_by_us;
}

// The first rank of this node that failed by itself: as its runner says, who saw the order.
const RankExit* first_failed_rank(const NodeExitReport& exit) {
  const RankExit* first = nullptr;
  for (const RankExit& rank : exit.ranks) {
    if (!failed_by_itself(rank)) continue;
    if (exit.first_failed_rank == rank.rank) return &rank;
    if (first == nullptr || rank.time < first->time) first = &rank;
  }
  return first;
}

// When a node failed as a whole, its ranks were terminated soon after: the earliest of their ends
// is nearer to the failure than the end of the last.
Instant time_of_failure(const NodeExitReport& exit) {
  Instant time = exit.ended;
  for (const RankExit& rank : exit.ranks)
    if (rank.started && rank.time.ns != 0) time = std::min(time, rank.time);
  return time;
}

// The rank of another node that this one's ranks waited for in vain; nullopt when it names none.
std::optional<Failure> unconnected_in(const Attempt& attempt, const NodeExitReport& exit,
                                      const JobSpec& spec) {
  if (exit.cause != Cause::never_connected || !exit.first_failed_rank) return std::nullopt;
  RankExit unconnected;
  unconnected.rank = *exit.first_failed_rank;
  const int node_rank = spec.node_of_rank(unconnected.rank);
  if (unconnected.rank < 0 || node_rank >= attempt.size()) return std::nullopt;
  unconnected.cause = exit.cause;
  unconnected.time = time_of_failure(exit);
  const Part* part = &attempt.parts[static_cast<std::size_t>(node_rank)];
  return Failure{unconnected.time, node_rank, part, unconnected, exit.cause};
}

// A node that has ended its ranks for another's failure may be heard of before that one.
std::optional<Failure> told_by_peer(const Attempt& attempt, const NodeExitReport& exit,
                                    const JobSpec& spec) {
  if (!exit.aborted_by) return std::nullopt;
  const PeerAbort& abort = *exit.aborted_by;
  const Cause cause = abort.first.cause;
  const bool has_failed = cause != Cause::completed && cause != Cause::canceled;
  if (!has_failed || abort.node_rank >= attempt.size()) return std::nullopt;
  const Part& part = attempt.parts[static_cast<std::size_t>(abort.node_rank)];
  if (part.gone || part.finished()) return std::nullopt;
  Failure failure{time_of_failure(exit), abort.node_rank, &part, std::nullopt, cause, abort.why};
  const bool is_its_rank = spec.node_of_rank(abort.first.rank) == abort.node_rank;
  if (belongs_to_rank(cause) && !is_its_rank) return std::nullopt;
  if (belongs_to_rank(cause)) failure.rank = abort.first;
  return failure;
}

std::vector<Failure> failures_of(const Attempt& attempt, const JobSpec& spec) {
  std::vector<Failure> failures;
  for (int i = 0; i < attempt.size(); ++i) {
    const Part& part = attempt.parts[static_cast<std::size_t>(i)];
    if (part.gone) failures.push_back({part.gone->at, i, &part, std::nullopt, part.gone->cause});
    if (!part.finished() || !part.report->exit) continue;
    const NodeExitReport& exit = *part.report->exit;
    if (const RankExit* rank = first_failed_rank(exit))
      failures.push_back({rank->time, i, &part, *rank, rank->cause});
    else if (auto unconnected = unconnected_in(attempt, exit, spec))
      failures.push_back(*std::move(unconnected));
    if (auto told = told_by_peer(attempt, exit, spec)) failures.push_back(*std::move(told));
    const bool node_failed = exit.cause != Cause::completed && exit.cause != Cause::canceled &&
                             !belongs_to_rank(exit.cause);
    if (node_failed && !exit.first_failed_rank)
      failures.push_back({time_of_failure(exit), i, &part, std::nullopt, exit.cause});
  }
  return failures;
}

bool names(const Failure& failure, int node_rank) {
  return failure.rank && failure.rank->lost_peer &&
         failure.rank->lost_peer->node_rank == node_rank && failure.node_rank != node_rank;
}

// Two that name each other say nothing of which came first.
void mark_secondary(std::vector<Failure>& failures) {
  std::multimap<int, const Failure*> by_node;
  for (const Failure& failure : failures) by_node.emplace(failure.node_rank, &failure);
  for (Failure& failure : failures) {
    if (!failure.rank || !failure.rank->lost_peer) continue;
    const auto [first, last] = by_node.equal_range(failure.rank->lost_peer->node_rank);
    failure.is_secondary = std::any_of(first, last, [&](const auto& other) {
      return names(failure, other.first) && !names(*other.second, failure.node_rank);
    });
  }
}

// Lower comes first, whatever the clocks of the nodes say. Ranks that hang end late, so others that
// miss them may fail before.
constexpr int kByTime = 3;
int precedence(const Failure& failure) {
  if (failure.cause == Cause::node_lost) return 0;
  if (failure.cause == Cause::runner_lost) return 1;
  if (failure.cause == Cause::hang) return 2;
  return failure.is_secondary ? kByTime + 1 : kByTime;
}

std::vector<int> terminated_ranks(const Attempt& attempt) {
  std::vector<int> ranks;
  for (const Part& part : attempt.parts) {
    if (!part.finished() || !part.report->exit) continue;
    for (const RankExit& rank : part.report->exit->ranks)
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

// As whoever saw it says.
Why said_of(const Failure& failure) {
  if (failure.told) return *failure.told;
  return failure.part->gone ? failure.part->gone->why : failure.part->report->exit->why;
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
  if (failure.cause == Cause::hang && failure.part->finished() && failure.part->report->exit)
    report.hang = failure.part->report->exit->hang;
  report.why = why_of(state, attempt, failure, report);
  if (failure.part->gone && is_lost(failure.cause))
    report.lifetime = ended_with_machine(state, report.node, failure.time);
  return report;
}

// How well the time of a failure is known; nullopt: the clock of its node was never measured.
std::optional<Duration> uncertainty_of(const Failure& failure) {
  const auto& report = failure.part->report;
  if (failure.part->gone || !report || !report->clock) return std::nullopt;
  return report->clock->uncertainty;
}

bool is_same(const Failure& a, const Failure& b) {
  if (a.rank && b.rank) return a.rank->rank == b.rank->rank;
  return !a.rank && !b.rank && a.cause == b.cause;  // a time-out ends all nodes at once
}

// Those that the clocks of the nodes do not put after `first`. Within a node its runner knows.
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

// All whose order is not known.
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

// As its runner said it, if that was told to stop; else nobody knows of an order.
Why why_stopped(const Attempt& attempt, const std::string& node) {
  for (const Part& part : attempt.parts) {
    if (!part.failed() || !part.finished() || !part.report->exit) continue;
    const auto& by = part.report->exit->aborted_by;
    if (by) return NodeEndedRanks{node, by->why};
    break;
  }
  return StoppedUnasked{node};
}

// Parts failed, but none says that it was by itself: somebody stopped ranks behind our back.
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

}  // namespace

namespace {

// Whatever the ranks do in the time that they have left; also if whoever takes the machine has
// signalled them itself.
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

// Of what a canceled attempt left, the first in full.
void add_not_kept(const State& state, const Attempt& attempt, JobCanceled& canceled) {
  for (const Part& part : attempt.parts) {
    if (!part.finished() || part.gone) continue;
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
  JobCanceled canceled{job.cancel_by.value_or(Why()), job.phase == Job::Phase::waiting};
  if (job.phase == Job::Phase::placed) {
    report.terminated_ranks = terminated_ranks(job.attempts.back());
    // A rank that we terminated is never the cause of a verdict, so this one failed before.
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
      bytes += part.lost_log_bytes;
      if (part.logs_lost) (part.lost_log_bytes == 0 ? silent : without_space).insert(part.node);
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
