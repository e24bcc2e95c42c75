#include "launcher/core/verdict.h"

#include <fmt/format.h>
#include <algorithm>
#include <csignal>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "launcher/core/environments.h"
#include "launcher/core/found_state.h"
#include "launcher/core/machine_life.h"
#include "launcher/core/text_for_now.h"
#include "launcher/words/found.h"

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

std::string with_detail(std::string text, const std::string& detail) {
  return detail.empty() ? text : text + ": " + detail;
}
std::string with_detail(std::string text, const Why& why) {
  return with_detail(std::move(text), text_for_now(why));
}

std::string rank_in_words(const RankExit& rank, const std::string& node) {
  const std::string who = fmt::format("rank {} (node {})", rank.rank, node);
  switch (rank.cause) {
    case Cause::exit_code:
      return with_detail(fmt::format("{} exited with code {}", who, rank.exit_code), rank.why);
    case Cause::signal: {
      const std::string name = signal_name(rank.signal);
      return with_detail(fmt::format("{} was killed by signal {}{}", who, rank.signal,
                                     name.empty() ? "" : " (" + name + ")"),
                         rank.why);
    }
    case Cause::out_of_memory:
      return with_detail(who + " ran out of memory and was killed by the kernel", rank.why);
    case Cause::mpi_abort:
      return who + " called " +
             (rank.why ? text_for_now(rank.why) : fmt::format("MPI_Abort({})", rank.exit_code));
    case Cause::exit_without_finalize:
      return who + " exited with code 0 without calling MPI_Finalize";
    case Cause::never_connected:
      return who + " ended without connecting to its MPI server although other ranks did: it ran " +
             "as \"rank 0 of 1\"; check that it uses the job's MPI library";
    case Cause::command_not_found:
      return with_detail(who + " could not start: command not found", rank.why);
    case Cause::command_not_executable:
      return with_detail(who + " could not start: the command is not executable", rank.why);
    case Cause::start_failed: return with_detail(who + " could not be started", rank.why);
    case Cause::timeout: return who + " ran into limits.timeout";
    case Cause::completed:
    case Cause::canceled:
    case Cause::workspace_failed:
    case Cause::port_taken:
    case Cause::runner_lost:
    case Cause::node_lost:
    case Cause::account_missing:
    case Cause::environment_failed:
    case Cause::disk_limit:
    case Cause::preempted:
    case Cause::hang:
    case Cause::no_rdma: break;
  }
  return with_detail(who + " failed (" + std::string(to_string(rank.cause)) + ")", rank.why);
}

std::string node_in_words(Cause cause, const std::string& node, const std::string& detail,
                          const JobSpec& spec) {
  switch (cause) {
    case Cause::timeout:
      return fmt::format("the job ran longer than limits.timeout{}",
                         spec.timeout ? " (" + format_duration(*spec.timeout) + ")" : "");
    case Cause::workspace_failed:
      return with_detail("the working directory could not be prepared on node " + node, detail);
    case Cause::start_failed:
      return with_detail("the job could not be started on node " + node, detail);
    case Cause::port_taken:
      return with_detail("others took the ports of its ranks on node " + node, detail);
    case Cause::runner_lost:
      return with_detail("the runner on node " + node + " died, and its ranks with it", detail);
    case Cause::node_lost: return with_detail("node " + node + " was lost", detail);
    case Cause::environment_failed:
      return with_detail("the environment could not be created on node " + node, detail);
    case Cause::disk_limit: return with_detail("the job was ended on node " + node, detail);
    case Cause::hang: return "the ranks of the job hang";
    case Cause::no_rdma:
      return with_detail("lockstep.rdma is required, but not used on node " + node, detail);
    case Cause::account_missing:
      return with_detail(fmt::format("node {} cannot run jobs as {}", node, spec.run_as), detail);
    case Cause::completed:
    case Cause::exit_code:
    case Cause::signal:
    case Cause::out_of_memory:
    case Cause::mpi_abort:
    case Cause::exit_without_finalize:
    case Cause::never_connected:
    case Cause::command_not_found:
    case Cause::command_not_executable:
    case Cause::preempted:
    case Cause::canceled: break;
  }
  return with_detail("node " + node + " failed (" + std::string(to_string(cause)) + ")", detail);
}

bool is_lost(Cause cause) { return cause == Cause::node_lost || cause == Cause::runner_lost; }

// A failure never ends with exit code 0, even MPI_Abort(0).
int failing_code(int code) { return code == 0 ? 1 : code; }

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
    report.message = rank_in_words(*failure.rank, report.node_name);
    report.stderr_tail = failure.rank->stderr_tail;
    report.lost_peer = failure.rank->lost_peer;
    report.backtrace = failure.rank->backtrace;
    return report;
  }
  RankExit node_exit;
  node_exit.cause = failure.cause;
  report.exit_code = failing_code(exit_code_of(node_exit));
  const std::string detail = failure.told         ? text_for_now(*failure.told)
                             : failure.part->gone ? failure.part->gone->why
                                                  : text_for_now(failure.part->report->exit->why);
  report.message =
      node_in_words(failure.cause, report.node_name, detail, state.job(attempt.id.job)->spec);
  if (failure.cause == Cause::hang && failure.part->finished() && failure.part->report->exit)
    report.hang = failure.part->report->exit->hang;
  if (report.hang)
    report.message = "the ranks hang: " + words::say_cause(*report.hang, about(state, attempt));
  if (failure.part->gone && is_lost(failure.cause))
    report.lifetime = ended_with_machine(state, report.node, failure.time);
  if (failure.cause == Cause::start_failed || failure.cause == Cause::environment_failed)
    report.message += said_before(state, attempt, *failure.part);
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

std::string in_milliseconds(Duration time) {
  return fmt::format("{:.1f} ms", std::chrono::duration<double, std::milli>(time).count());
}

// "; or rank 5 (node n3) exited with code 1 before it: …", for all whose order is not known.
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
    report.also.push_back({its.cause, its.rank, its.node, its.node_name, its.time, its.message});
  }
  report.message += fmt::format("; or first {}", report.also.front().message);
  if (others.size() > 1) report.message += fmt::format(" (or one of {} more)", others.size() - 1);
  report.message +=
      fmt::format(": they failed within {}, and the nodes' clocks are only known to {}",
                  in_milliseconds(apart), in_milliseconds(known));
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
std::string why_stopped(const Attempt& attempt) {
  for (const Part& part : attempt.parts) {
    if (!part.failed() || !part.finished() || !part.report->exit) continue;
    const auto& by = part.report->exit->aborted_by;
    if (by) return fmt::format("ended its ranks because {}", text_for_now(by->why));
    break;
  }
  return std::string(kUnexplained);
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
  report.message = fmt::format("node {} {}", report.node_name, why_stopped(attempt));
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
  completed.message = kCompletedMessage;
  return completed;
}

namespace {

// "; ./outputs of node n1 was not kept: …", of what a canceled attempt left, the first in full.
std::string not_kept(const State& state, const Attempt& attempt) {
  std::string text;
  int more = 0;
  for (const Part& part : attempt.parts) {
    if (!part.finished() || part.gone) continue;
    for (const CollectedOutput& output : part.report->outputs) {
      if (output.tree || output.problems.empty()) continue;
      const std::string what =
          describe(output.kind, output.name) + " of node " + state.node_name(part.node);
      if (text.empty())
        text = "; " + what + ": " + output.problems.front();
      else
        ++more;
    }
  }
  return more == 0 ? text : fmt::format("{} (and {} more, see `lockstep job show`)", text, more);
}

}  // namespace

ExitReport canceled_report(const State& state, const Job& job, Instant now) {
  ExitReport report;
  report.cause = Cause::canceled;
  report.exit_code = 130;
  report.time = now;
  report.message = "canceled";
  if (job.cancel_by && !job.cancel_by->empty()) report.message += " by " + *job.cancel_by;
  if (job.phase == Job::Phase::waiting) report.message += " while it waited in the queue";
  if (job.phase == Job::Phase::placed) {
    report.terminated_ranks = terminated_ranks(job.attempts.back());
    // A rank that we terminated is never the cause of a verdict, so this one failed before.
    const ExitReport failed = verdict(state, job.attempts.back(), now);
    if (blames_program(failed)) report.message += "; it had failed before: " + failed.message;
    report.message += not_kept(state, job.attempts.back());
  }
  return report;
}

namespace {

std::string names_of(const State& state, const std::set<NodeId>& nodes) {
  const std::string first = "node " + state.node_name(*nodes.begin());
  return nodes.size() == 1 ? first : first + fmt::format(" and {} more", nodes.size() - 1);
}

}  // namespace

std::string logs_not_kept(const State& state, const Job& job) {
  std::uint64_t bytes = 0;
  std::set<NodeId> without_space, silent;
  for (const Attempt& attempt : job.attempts) {
    for (const Part& part : attempt.parts) {
      bytes += part.lost_log_bytes;
      if (part.logs_lost) (part.lost_log_bytes == 0 ? silent : without_space).insert(part.node);
    }
  }
  std::string text;
  if (!without_space.empty())
    text += fmt::format(
        "; the last {} of its logs on {} were not kept, since the job was canceled and the "
        "launcher had no space for them",
        to_string(Bytes{bytes}), names_of(state, without_space));
  if (!silent.empty())
    text += fmt::format(
        "; its logs may lack their last lines: those of {} did not all arrive in the time that the "
        "launcher waits for them (--logs-timeout)",
        names_of(state, silent));
  return text;
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
  report.message =
      fmt::format("node {} was not prepared within {}", report.node_name, format_duration(limit));
  if (!progress.empty()) report.message += " (last: " + progress + ")";
  return report;
}

bool blames_program(const ExitReport& report) {
  return report.cause != Cause::completed && report.cause != Cause::canceled &&
         !is_infrastructure(report.cause);
}

std::string signal_name(int number) {
  static constexpr std::pair<int, const char*> kNames[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
      {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
      {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
      {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
      {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},   {SIGSTOP, "SIGSTOP"}, {SIGCONT, "SIGCONT"},
      {SIGTSTP, "SIGTSTP"}};
  for (const auto& [value, name] : kNames)
    if (value == number) return name;
  return "";
}

}  // namespace lockstep::launcher
