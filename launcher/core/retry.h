#pragma once
// Whether a failed attempt is followed by another, and when that may start. Cause decides: the
// machines' faults are tried again, the program's only as the job says. Pure.

#include <optional>
#include <string>

#include "launcher/core/state.h"

namespace lockstep::launcher {

// A taken MASTER_PORT, or a node without the job's user, costs nothing, but it cannot go on for
// ever: beyond this it is charged.
inline constexpr int kMaxUnchargedRetries = 20;

// The longest back-off, unless the job's own first one is longer.
inline constexpr Duration kLongestBackoff = seconds(60);

struct Retry {
  bool charged = true;
  std::string why;
  Duration backoff{0};
};

// nullopt: the report is the job's end.
std::optional<Retry> retry_after(const Job& job, const ExitReport& report);

// Whether the job asks for another attempt after such an end, whatever its count.
bool is_retried(const RetryPolicy& policy, const ExitReport& report);

// Before the charged retry `number` (1, 2, …): the first one doubled each time.
Duration backoff_before(const RetryPolicy& policy, int number);

// The checkpoint for the job's next attempt: the newest that an attempt saved, else the one that
// the job was submitted with. nullopt: there is none.
std::optional<CheckpointSource> newest_checkpoint(const Job& job);

}  // namespace lockstep::launcher
