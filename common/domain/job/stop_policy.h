#pragma once
// The end of a job's ranks: the grace time between SIGTERM and SIGKILL, and a signal that comes
// before the job's time limit. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/table.h"
#include "common/base/time.h"

namespace lockstep {

// The signal that is sent `before` the end of limits.timeout to those processes of a rank that
// handle it.
struct EarlySignal {
  int number = 0;
  Duration before{0};
  static void table(auto& s, auto&& see) {
    see(field<1>, "number", s.number, {.low = 1, .high = 64});
    see(field<2>, "before", s.before);
  }
  friend bool operator==(const EarlySignal&, const EarlySignal&) = default;
};

struct StopPolicy {
  std::optional<Duration> grace = {};  // absent: the launcher's default
  std::optional<EarlySignal> signal = {};
  friend bool operator==(const StopPolicy&, const StopPolicy&) = default;
};

inline constexpr Duration kMostGrace = std::chrono::hours(1);
inline constexpr Duration kSignalBefore = seconds(60);  // the same default as Slurm's

// The number of "USR1", "SIGUSR1" or "10"; nullopt: the word is not one of the signals that may be
// sent.
std::optional<int> early_signal_number(std::string_view word);
std::string early_signal_name(int number);  // "USR1"
// "HUP, INT, QUIT, USR1, …"
std::string early_signal_names();
// "USR1@60", "USR1@2m", "USR1".
Result<EarlySignal> early_signal_from(const std::string& text);

// Checks the policy. Errors begin with the key: "lockstep.grace_period: ".
Status validate(const StopPolicy& policy, const std::optional<Duration>& timeout);

}  // namespace lockstep
