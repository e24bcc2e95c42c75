#pragma once
// Decides whether a failed attempt is retried, and when the retry may start. The cause decides:
// faults of the machines are retried, failures of the program only as the job's policy says. Pure.

#include <optional>
#include <string>

#include "launcher/state/state.h"

namespace lockstep::launcher {

// The number of uncharged retries of one job, such as those for a taken MASTER_PORT or for a node
// without the job's account. Further ones are charged.
inline constexpr int kMaxUnchargedRetries = 20;

// The longest back-off, unless the job's own first one is longer.
inline constexpr Duration kLongestBackoff = seconds(60);

// How often in a row a job is requeued without charge because its machine ended by itself. An
// attempt that saved a checkpoint made progress and does not count.
inline constexpr int kMostEndsOfMachines = 2;

struct Retry {
  bool charged = true;
  Why why;  // ChargedRetry or UnchargedRetry
  Duration backoff{0};
};

// Decides about a retry. nullopt: no retry, and the job ends with this report. `tier`: the tier of
// the job's target: loss of a low_priority machine is not charged, however often it happens. A job
// with lockstep.terminal is not retried once rank 0 has started.
std::optional<Retry> retry_after(const Job& job, const ExitReport& report,
                                 Tier tier = Tier::dedicated);

// Why a job is not retried although its policy would allow it: its machine has ended by itself too
// often, or its owner's terminal input to rank 0 cannot be repeated (lockstep.terminal). None:
// neither is the case.
Why why_given_up(const Job& job, const ExitReport& report);

// Whether the policy retries such an end, whatever the number of retries so far.
bool is_retried(const RetryPolicy& policy, const ExitReport& report);
// The same for a job. Whether a hang is retried depends on lockstep.on_hang, not on the job's retry
// policy.
bool is_retried(const JobSpec& spec, const ExitReport& report);

// The back-off before the charged retry `number` (1, 2, …). It doubles with each retry.
Duration backoff_before(const RetryPolicy& policy, int number);

// The checkpoint with which the job's next attempt starts: the newest attempt's that saved one,
// otherwise the one given at submission. nullopt: there is neither.
std::optional<CheckpointSource> newest_checkpoint(const Job& job);

}  // namespace lockstep::launcher
