#include "launcher/core/attempts/failures.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace lockstep::launcher {

bool earlier(const Failure& a, const Failure& b) {
  const int rank_a = a.rank ? a.rank->rank : -1;
  const int rank_b = b.rank ? b.rank->rank : -1;
  return std::tie(a.time, a.node_rank, rank_a) < std::tie(b.time, b.node_rank, rank_b);
}

namespace {

// True for causes that only a rank can have, so that the node's report must name a rank.
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

// The rank of this node that failed first by itself. Its runner saw the order and names it.
const RankExit* first_failed_rank(const NodeExitReport& exit) {
  const RankExit* first = nullptr;
  for (const RankExit& rank : exit.ranks) {
    if (!failed_by_itself(rank)) continue;
    if (exit.first_failed_rank == rank.rank) return &rank;
    if (first == nullptr || rank.time < first->time) first = &rank;
  }
  return first;
}

// The time at which a node failed as a whole. Its ranks were terminated soon afterwards, so the
// earliest of their ends is nearest to the failure.
Instant time_of_failure(const NodeExitReport& exit) {
  Instant time = exit.ended;
  for (const RankExit& rank : exit.ranks)
    if (rank.started && rank.time.ns != 0) time = std::min(time, rank.time);
  return time;
}

// A rank of another node for which this node's ranks waited in vain; nullopt: the report names
// none.
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

// The failure of a peer for which this node ended its ranks. This report may arrive before the
// peer's own.
std::optional<Failure> told_by_peer(const Attempt& attempt, const NodeExitReport& exit,
                                    const JobSpec& spec) {
  if (!exit.aborted_by) return std::nullopt;
  const PeerAbort& abort = *exit.aborted_by;
  const Cause cause = abort.first.cause;
  const bool has_failed = cause != Cause::completed && cause != Cause::canceled;
  if (!has_failed || abort.node_rank >= attempt.size()) return std::nullopt;
  const Part& part = attempt.parts[static_cast<std::size_t>(abort.node_rank)];
  if (part.gone() || part.finished()) return std::nullopt;
  Failure failure{time_of_failure(exit), abort.node_rank, &part, std::nullopt, cause, abort.why};
  const bool is_its_rank = spec.node_of_rank(abort.first.rank) == abort.node_rank;
  if (belongs_to_rank(cause) && !is_its_rank) return std::nullopt;
  if (belongs_to_rank(cause)) failure.rank = abort.first;
  return failure;
}

}  // namespace

std::vector<Failure> failures_of(const Attempt& attempt, const JobSpec& spec) {
  std::vector<Failure> failures;
  for (int i = 0; i < attempt.size(); ++i) {
    const Part& part = attempt.parts[static_cast<std::size_t>(i)];
    if (const Part::Gone* gone = part.gone())
      failures.push_back({gone->at, i, &part, std::nullopt, gone->cause});
    if (part.exit() == nullptr) continue;
    const NodeExitReport& exit = *part.exit();
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

namespace {

bool names(const Failure& failure, int node_rank) {
  return failure.rank && failure.rank->lost_peer &&
         failure.rank->lost_peer->node_rank == node_rank && failure.node_rank != node_rank;
}

}  // namespace

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

int precedence(const Failure& failure) {
  if (failure.cause == Cause::node_lost) return 0;
  if (failure.cause == Cause::runner_lost) return 1;
  if (failure.cause == Cause::hang) return 2;
  return failure.is_secondary ? kByTime + 1 : kByTime;
}

}  // namespace lockstep::launcher
