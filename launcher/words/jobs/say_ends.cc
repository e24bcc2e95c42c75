#include "launcher/words/jobs/say_ends.h"

#include <fmt/format.h>

#include <csignal>
#include <string_view>
#include <utility>

#include "common/base/cut.h"
#include "common/domain/why/jobs/ends.h"
#include "launcher/words/found/about_found.h"
#include "launcher/words/found/say_found.h"
#include "launcher/words/job_text.h"
#include "launcher/words/why.h"

namespace lockstep::words {

namespace {

constexpr std::size_t kMostOfBefore = 300;  // the most bytes of each node's earlier output

constexpr std::string_view kNoFinalize = "exited with code 0 without calling MPI_Finalize";
constexpr std::string_view kAlone = "ended without connecting to its MPI server";
constexpr std::string_view kNotFound = "could not start: command not found";
constexpr std::string_view kNotExecutable = "could not start: the command is not executable";

std::string with_detail(std::string text, const Why& why) {
  const std::string detail = text_of(why);
  return detail.empty() ? text : text + ": " + detail;
}

std::string killed_by(int signal) {
  const std::string name = signal_name(signal);
  return fmt::format("was killed by signal {}{}", signal, name.empty() ? "" : " (" + name + ")");
}

// A text such as "node n1 and 2 more".
std::string nodes_text(const std::string& first, int more) {
  return "node " + first + (more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string in_milliseconds(Duration time) {
  return fmt::format("{:.1f} ms", std::chrono::duration<double, std::milli>(time).count());
}

// Whether the reason follows the end of a job in brackets; others follow after a semicolon.
bool is_aside(const Why& why) { return why.is<NorOnNodes>() || why.is<GivenUpAfter>(); }

}  // namespace

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

std::string rank_end_in_short(Cause cause, int exit_code) {
  const auto with_code = [&](std::string_view how) {
    return fmt::format("{} (exit code {})", how, exit_code);
  };
  switch (cause) {
    case Cause::exit_code: return fmt::format("exited with code {}", exit_code);
    case Cause::signal: {
      const std::string name = signal_name(exit_code - 128);
      return with_code("was killed by " +
                       (name.empty() ? fmt::format("signal {}", exit_code - 128) : name));
    }
    case Cause::out_of_memory:
      return fmt::format("was killed because it ran out of memory (OOM; exit code {})", exit_code);
    case Cause::mpi_abort: return with_code("called MPI_Abort");
    case Cause::exit_without_finalize: return std::string(kNoFinalize);
    case Cause::never_connected: return std::string(kAlone);
    case Cause::command_not_found: return with_code(kNotFound);
    case Cause::command_not_executable: return with_code(kNotExecutable);
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
    case Cause::no_rdma: break;
  }
  return "";
}

std::string say(const AllRanksCompleted&) { return "completed"; }

std::string say(const RankFailed& reason) {
  const std::string who = fmt::format("rank {} (node {})", reason.rank, reason.node);
  const auto did = [&](std::string_view what) {
    return with_detail(fmt::format("{} {}", who, what), reason.why);
  };
  switch (reason.cause) {
    case Cause::exit_code: return did(fmt::format("exited with code {}", reason.exit_code));
    case Cause::signal: return did(killed_by(reason.signal));
    case Cause::out_of_memory: return did("ran out of memory and was killed by the kernel");
    case Cause::mpi_abort:
      return who + " called " +
             (reason.why ? text_of(reason.why) : fmt::format("MPI_Abort({})", reason.exit_code));
    case Cause::exit_without_finalize: return fmt::format("{} {}", who, kNoFinalize);
    case Cause::never_connected:
      return fmt::format(
          "{} {} although other ranks did: it ran as \"rank 0 of 1\"; check that it uses the job's "
          "MPI library",
          who, kAlone);
    case Cause::command_not_found: return did(kNotFound);
    case Cause::command_not_executable: return did(kNotExecutable);
    case Cause::start_failed: return did("could not be started");
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
  return did(fmt::format("failed ({})", to_string(reason.cause)));
}

namespace {

std::string end_of_node(const NodeFailed& reason) {
  const std::string& node = reason.node;
  const Why& why = reason.why;
  switch (reason.cause) {
    case Cause::timeout:
      return fmt::format("the job ran longer than limits.timeout{}",
                         reason.timeout ? " (" + format_duration(*reason.timeout) + ")" : "");
    case Cause::workspace_failed:
      return with_detail("the working directory could not be prepared on node " + node, why);
    case Cause::start_failed:
      return with_detail("the job could not be started on node " + node, why);
    case Cause::port_taken:
      return with_detail("others took the ports of its ranks on node " + node, why);
    case Cause::runner_lost:
      return with_detail("the runner on node " + node + " died, and its ranks with it", why);
    case Cause::node_lost: return with_detail("node " + node + " was lost", why);
    case Cause::environment_failed:
      return with_detail("the environment could not be created on node " + node, why);
    case Cause::disk_limit: return with_detail("the job was ended on node " + node, why);
    case Cause::hang: return "the ranks of the job hang";
    case Cause::no_rdma:
      return with_detail("lockstep.rdma is required, but not used on node " + node, why);
    case Cause::account_missing:
      return with_detail(fmt::format("node {} cannot run jobs as {}", node, reason.run_as), why);
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
  return with_detail(fmt::format("node {} failed ({})", node, to_string(reason.cause)), why);
}

}  // namespace

std::string say(const NodeFailed& reason) {
  std::string text = end_of_node(reason);
  for (const FailedBefore& other : reason.before)
    text += fmt::format("; node {} reported before: {}", other.node,
                        cut(text_of(other.why), kMostOfBefore));
  if (reason.more_before > 0) text += fmt::format("; and {} more", reason.more_before);
  return text;
}

std::string say(const RanksHang& reason) {
  if (!reason.found) return "the ranks of the job hang";
  return "the ranks hang: " + say_cause(found_of(*reason.found), about(*reason.found));
}

std::string say(const FirstOfSeveral& reason) {
  std::string text = fmt::format("{}; or first {}", text_of(reason.first), text_of(reason.other));
  if (reason.more > 0) text += fmt::format(" (or one of {} more)", reason.more);
  return text + fmt::format(": they failed within {}, and the nodes' clocks are only known to {}",
                            in_milliseconds(reason.apart), in_milliseconds(reason.known));
}

std::string say(const NodeEndedRanks& reason) {
  return fmt::format("node {} ended its ranks because {}", reason.node, text_of(reason.why));
}

std::string say(const StoppedUnasked& reason) {
  return fmt::format("node {} stopped its ranks although nobody asked for it", reason.node);
}

std::string say(const NotPrepared& reason) {
  return fmt::format("node {} was not prepared within {}{}", reason.node,
                     format_duration(reason.limit),
                     reason.said.empty() ? "" : " (last: " + reason.said + ")");
}

std::string say(const NodePreempted& reason) {
  return fmt::format("preempted: node {} is taken away: {}", reason.node, text_of(reason.why));
}

std::string say(const DependencyFailed& reason) {
  return fmt::format("it was to run after {} had completed, and that job is {}",
                     job_text(reason.job), to_string(reason.status));
}

// The text of an end; for a completed job, only the losses.
std::string say(const EndedWith& reason) {
  std::string text = reason.end.is<AllRanksCompleted>() ? "" : text_of(reason.end);
  for (const Why& more : reason.more) {
    if (is_aside(more))
      text += fmt::format("{}({})", text.empty() ? "" : " ", text_of(more));
    else
      text += (text.empty() ? "" : "; ") + text_of(more);
  }
  return text;
}

std::string say(const NoNodeHasAccount& reason) {
  return fmt::format(
      "no node of target '{}' can run jobs as this account: create the account on the nodes, and "
      "submit the job again",
      reason.target);
}

std::string say(const NorOnNodes& reason) {
  return fmt::format("nor on {}{}", fmt::join(reason.nodes, ", "),
                     reason.more == 0 ? "" : fmt::format(" and {} more", reason.more));
}

std::string say(const GivenUpAfter& reason) {
  return fmt::format("given up after {} attempts", reason.attempts);
}

std::string say(const InputIsGone&) {
  return "not tried again, because what was written to its standard input is gone";
}

std::string say(const MachinesEndTooEarly& reason) {
  const std::string time = reason.timeout
                               ? "it may run for " + format_duration(*reason.timeout)
                               : "it was there for " +
                                     format_duration(std::chrono::floor<seconds>(reason.ran)) +
                                     " the last time";
  return fmt::format(
      "the machines of its target end after {}, and the job did not end {} times ({}): give the "
      "machines more time, or let the job save checkpoints",
      format_duration(reason.lifetime), reason.ends, time);
}

std::string say(const LogsWithoutSpace& reason) {
  return fmt::format(
      "the last {} of its logs on {} were not kept, since the job was canceled and the launcher "
      "had no space for them",
      to_string(reason.bytes), nodes_text(reason.node, reason.more_nodes));
}

std::string say(const LogsCameLate& reason) {
  return fmt::format(
      "its logs may lack their last lines: those of {} did not all arrive in the time that the "
      "launcher waits for them (--logs-timeout)",
      nodes_text(reason.node, reason.more_nodes));
}

std::string say(const RetriedAfter& reason) {
  return text_of(reason.end) + "; " + text_of(reason.then);
}

std::string say(const ChargedRetry& reason) {
  return fmt::format("retry {} of {}", reason.number, reason.most);
}

std::string say(const UnchargedRetry& reason) {
  switch (reason.because) {
    case Uncharged::node_revoked: return "not counted as a retry";
    case Uncharged::port_taken: return "trying another port, which does not count as a retry";
    case Uncharged::other_node: return "trying another node, which does not count as a retry";
    case Uncharged::machine_ended:
      return "its machine's time was over, which does not count as a retry";
    case Uncharged::low_priority:
      return "its target is low_priority, so this does not count as a retry";
  }
  return "not counted as a retry";
}

std::string say(const WasRetried&) { return "retried"; }

}  // namespace lockstep::words
