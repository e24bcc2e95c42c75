#pragma once
// A job's settings for the queue: its priority, Azure's tier, and what it waits for before it may
// be placed. Plain values.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/base/word.h"
#include "common/grammar/job_name.h"

namespace lockstep {

// Jobs of a higher priority are placed before all jobs of a lower one.
enum class Priority { low, medium, high };
Word describe(Priority priority);
std::string_view to_string(Priority priority);  // "low", …
constexpr Priority last_enumerator(Priority) { return Priority::high; }
std::optional<Priority> priority_from(std::string_view word);
inline constexpr Priority kPriorities[] = {Priority::high, Priority::medium, Priority::low};

// The job's tier: Azure's queue_settings.job_tier. `spot`: the job accepts machines that may be
// taken away at any time. The others are accepted, and mean the same as `unset` here.
enum class JobTier { unset, spot, basic, standard, premium };
inline constexpr JobTier kJobTiers[] = {JobTier::spot, JobTier::basic, JobTier::standard,
                                        JobTier::premium};
Word describe(JobTier tier);
std::string_view to_string(JobTier tier);  // "spot", …; "" for unset

// How another job must have ended before this one may start.
enum class AfterWhen {
  completed,  // Completed, as Slurm's afterok; if it ends otherwise, this job is canceled
  ended,      // the job has ended in any way, as Slurm's afterany
};
Word describe(AfterWhen when);
std::string_view to_string(AfterWhen when);  // "completed", "ended"
constexpr AfterWhen last_enumerator(AfterWhen) { return AfterWhen::ended; }
std::optional<AfterWhen> after_when_from(std::string_view word);

struct After {
  JobId job;
  AfterWhen when = AfterWhen::completed;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, {.bytes = kMaxJobNameBytes});
    see(field<2>, "when", s.when);
  }
  friend bool operator==(const After&, const After&) = default;
};

struct QueueSettings {
  Priority priority = Priority::medium;
  JobTier tier = JobTier::unset;
  std::vector<After> after;  // the jobs that must have ended; each at most once
  Instant not_before;        // ns = 0: it may start at any time
  Duration delay{0};         // only in a submission: the time from it to `not_before`
  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

inline constexpr std::size_t kMaxAfter = 100;
inline constexpr Duration kMaxDelay = std::chrono::hours(24 * 366);

Status validate(const QueueSettings& queue);

// "train", "train:ended": an entry of `run --after`.
Result<After> after_from(const std::string& text);
// Reads the value of `run --begin` and lockstep.not_before into `queue`: a duration from now
// ("2h"), or a time stamp with a zone ("2026-11-26T18:00:00Z", "2026-11-26T18:00+01:00").
Status read_not_before(const std::string& text, QueueSettings* queue);

}  // namespace lockstep
