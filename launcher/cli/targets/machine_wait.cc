#include "launcher/cli/targets/machine_wait.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "common/io/clock.h"

namespace lockstep::cli {
namespace {

constexpr Duration kPollEvery = milliseconds(300);
// Short, because Ctrl-C is noticed only between two questions.
constexpr Duration kAskTimeout = seconds(2);
constexpr Duration kSilence = seconds(20);  // how long the launcher may be silent

class Waiter {
 public:
  Waiter(Context& context, Connection& connection, MachineProgress& progress, Duration timeout)
      : terminal_(context.terminal),
        connection_(connection),
        progress_(progress),
        timeout_(timeout),
        begun_(clock_.now()),
        heard_(begun_) {}

  int run() {
    if (const Status watched = watch_signals(); !watched) return fail(terminal_, watched.error());
    while (true) {
      const auto answer =
          connection_.ask_for<ComputesReply>(ListComputes{progress_.target()}, kAskTimeout);
      if (*signal_ != 0) return interrupted();
      if (const Status good = take(answer); !good) {
        terminal_.clear_status();
        return fail(terminal_, good.error());
      }
      if (progress_.is_done()) return finished();
      if (timeout_ > Duration::zero() && clock_.now() - begun_ >= timeout_) return timed_out();
      connection_.loop().turn(kPollEvery);
    }
  }

 private:
  // Watches signals. The loop keeps the handler after this object is destroyed.
  Status watch_signals() {
    struct sigaction hangup {};
    std::vector<int> signals{SIGINT, SIGTERM};
    if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
      signals.push_back(SIGHUP);
    return connection_.loop().watch_signals(signals,
                                            [seen = signal_](int signal) { *seen = signal; });
  }

  Status take(const Result<ComputesReply>& answer) {
    const bool is_silent = !answer && answer.error().code == ErrorCode::unavailable;
    if (is_silent && clock_.now() - heard_ < kSilence) return {};
    if (!answer && answer.error().code != ErrorCode::not_found)
      return make_error(answer.error().code,
                        fmt::format("{} {}", answer.error().message, goes_on()));
    heard_ = clock_.now();
    std::optional<ComputeView> compute;
    if (answer && !answer->computes.empty()) compute = answer->computes.front();
    for (const std::string& line : progress_.update(compute)) show(line);
    tell_who_waits();
    terminal_.live(progress_.open_lines());
    terminal_.progress(progress_.summary());
    return {};
  }

  // Shows a line. On a terminal, progress is shown above the status line and replaced; only ends
  // stay.
  void show(const std::string& line) {
    const auto open = progress_.open_lines();
    const bool is_drawn =
        terminal_.has_status_line() && std::find(open.begin(), open.end(), line) != open.end();
    if (!is_drawn) terminal_.print_line(line);
  }

  void tell_who_waits() {
    const auto waiting = progress_.take_waiting();
    if (waiting.empty()) return;
    const auto nodes = connection_.ask_for<NodesReply>(ListNodes{}, kAskTimeout);
    if (!nodes) return;
    for (const auto& [machine, name] : waiting)
      for (const NodeView& node : nodes->nodes)
        if (node.name == name && !node.attempts.empty())
          terminal_.print_line(
              fmt::format("{}: node {} waits for {} job{} ({}{}); `lockstep compute detach {} "
                          "--host {} --force` "
                          "gives up what runs there",
                          machine, name, node.attempts.size(), node.attempts.size() == 1 ? "" : "s",
                          node.attempts.front().job.value, node.attempts.size() == 1 ? "" : ", …",
                          progress_.target(), machine));
  }

  std::string goes_on() const {
    return fmt::format("The launcher goes on; `lockstep compute show {}` shows how far it is",
                       progress_.target());
  }

  int interrupted() {
    terminal_.clear_status();
    terminal_.print_line(fmt::format("{}. {}", progress_.summary(), goes_on()));
    return *signal_ == SIGHUP ? kExitHungUp : kExitInterrupted;
  }

  int timed_out() {
    terminal_.clear_status();
    std::string open;
    for (const std::string& line : progress_.open_lines()) open += "\n  " + line;
    terminal_.print_line(fmt::format("{} within {}. {}{}", progress_.summary(),
                                     format_duration(timeout_), goes_on(), open));
    return kExitFailure;
  }

  int finished() {
    terminal_.clear_status();
    const auto missing = progress_.missing();
    if (missing.empty()) return 0;
    terminal_.print_line(fmt::format("{}; not: {}", progress_.summary(), fmt::join(missing, ", ")));
    return kExitFailure;
  }

  Terminal& terminal_;
  Connection& connection_;
  MachineProgress& progress_;
  const Duration timeout_;
  io::SystemClock clock_;
  const Instant begun_;
  Instant heard_;
  std::shared_ptr<int> signal_ = std::make_shared<int>(0);
};

}  // namespace

Result<Duration> timeout_of(const MachineWait& wait) {
  if (wait.timeout.empty()) return Duration::zero();
  const Duration timeout = parse_duration(wait.timeout);
  if (timeout > Duration::zero()) return timeout;
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("--timeout '{}' is not a time; write seconds, or 90s, 5m, 2h", wait.timeout));
}

int wait_for_machines(Context& context, Connection& connection, MachineProgress& progress,
                      Duration timeout) {
  hold_interrupts(true);
  const int code = Waiter(context, connection, progress, timeout).run();
  hold_interrupts(false);
  return code;
}

}  // namespace lockstep::cli
