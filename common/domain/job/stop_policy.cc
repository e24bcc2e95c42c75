#include "common/domain/job/stop_policy.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace lockstep {
namespace {

struct Name {
  std::string_view word;
  int number;
};

// Signals that a job may get. Those that always end or stop a process are left out, and those of a
// process's own faults.
constexpr std::array kNames = std::to_array<Name>({{"USR1", SIGUSR1},
                                                   {"USR2", SIGUSR2},
                                                   {"TERM", SIGTERM},
                                                   {"INT", SIGINT},
                                                   {"HUP", SIGHUP},
                                                   {"QUIT", SIGQUIT},
                                                   {"ALRM", SIGALRM},
                                                   {"XCPU", SIGXCPU},
                                                   {"URG", SIGURG},
                                                   {"WINCH", SIGWINCH},
                                                   {"CONT", SIGCONT}});

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

}  // namespace

std::optional<int> early_signal_number(std::string_view word) {
  std::string upper(word);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (upper.starts_with("SIG")) upper.erase(0, 3);
  for (const Name& name : kNames)
    if (upper == name.word || upper == std::to_string(name.number)) return name.number;
  return std::nullopt;
}

std::string early_signal_name(int number) {
  for (const Name& name : kNames)
    if (name.number == number) return std::string(name.word);
  return std::to_string(number);
}

std::string early_signal_names() {
  std::string all;
  for (const Name& name : kNames) all += (all.empty() ? "" : ", ") + std::string(name.word);
  return all;
}

Result<EarlySignal> early_signal_from(const std::string& text) {
  const auto at = text.find('@');
  EarlySignal signal;
  signal.before = kSignalBefore;
  const auto number = early_signal_number(std::string_view(text).substr(0, at));
  if (!number)
    return invalid("'" + text.substr(0, at) + "' is not a signal that can be sent; write " +
                   early_signal_names());
  signal.number = *number;
  if (at == std::string::npos) return signal;
  signal.before = parse_duration(text.substr(at + 1));
  if (signal.before <= Duration::zero())
    return invalid("'" + text.substr(at + 1) +
                   "' is not a time; write seconds, or 90s, 5m: USR1@60");
  return signal;
}

Status validate(const StopPolicy& policy, const std::optional<Duration>& timeout) {
  if (policy.grace && *policy.grace < Duration::zero())
    return invalid("lockstep.grace_period: must not be negative");
  if (policy.grace && *policy.grace > kMostGrace)
    return invalid("lockstep.grace_period: is " + format_duration(*policy.grace) + "; at most " +
                   format_duration(kMostGrace) + " is possible");
  if (!policy.signal) return {};
  if (early_signal_number(std::to_string(policy.signal->number)) != policy.signal->number)
    return invalid("lockstep.signal: " + std::to_string(policy.signal->number) +
                   " is not a signal that can be sent; write " + early_signal_names());
  if (policy.signal->before <= Duration::zero())
    return invalid("lockstep.signal: before: must be more than 0 seconds");
  if (!timeout)
    return invalid(
        "lockstep.signal: comes before the end of limits.timeout, and the job has none; set "
        "--timeout, or limits.timeout in a job file");
  if (policy.signal->before >= *timeout)
    return invalid("lockstep.signal: is to come " + format_duration(policy.signal->before) +
                   " before the end of limits.timeout, which is " + format_duration(*timeout) +
                   "; write a shorter time");
  return {};
}

}  // namespace lockstep
