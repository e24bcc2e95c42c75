#pragma once
// Attempts for tests of accounting: given ones, and random ones of a month.

#include <random>
#include <string>
#include <vector>

#include "common/domain/schedule.h"
#include "launcher/accounting/attempt_use.h"

namespace lockstep::launcher::test {

// "2026-01-31T08:00" in UTC.
inline Instant time_of(const std::string& text) {
  return Instant{} + seconds(parse_local_time(text).value().seconds);
}

// Of one part with 4 cpus, 1 GPU and 8 GiB, that has ended well.
inline AttemptUse use_of_one(const std::string& user, const std::string& placed,
                             const std::string& ended) {
  AttemptUse use;
  use.attempt = {JobId("job"), 1, 0};
  use.user = user;
  use.project = "vision";
  use.target = "lab";
  use.submitted = time_of(placed) - minutes(10);
  use.waited_from = use.submitted;
  use.placed = time_of(placed);
  use.ended = time_of(ended);
  use.outcome = Outcome::completed;
  use.exit_code = 0;
  use.parts = {{"Standard_NC6", 4, 1, gibibytes(8), 0.9, {}}};
  return use;
}

// Placed in January 2026, for up to three days; times are on full minutes, or on no full second.
inline AttemptUse random_use(std::mt19937& random, bool on_minutes) {
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const auto time = [&](std::int64_t minutes_at_most) {
    const std::int64_t ns = any(0, minutes_at_most) * 60'000'000'000;
    return Duration(on_minutes ? ns : ns + any(0, 59'999'999'999));
  };
  static const std::vector<std::string> kSizes{"", "Standard_NC6", "Standard_ND96"};
  AttemptUse use;
  use.attempt = {JobId("job-" + std::to_string(any(1, 1'000'000))), 1, 0};
  use.user = std::string(1, static_cast<char>('a' + any(0, 4)));
  use.project = any(0, 1) == 0 ? "vision" : "text";
  use.target = any(0, 1) == 0 ? "lab" : "cloud";
  use.submitted = time_of("2026-01-01T00:00") + time(31 * 24 * 60);
  use.waited_from = use.submitted + time(10);
  use.placed = *use.waited_from + time(600);
  use.ended = *use.placed + time(3 * 24 * 60);
  use.outcome = static_cast<Outcome>(any(1, 4));
  for (std::int64_t count = any(1, 4); count > 0; --count) {
    HeldPart part{kSizes[static_cast<std::size_t>(any(0, 2))],
                  static_cast<int>(any(0, 128)),
                  static_cast<int>(any(0, 8)),
                  mebibytes(static_cast<std::uint64_t>(any(0, 1'000'000))),
                  static_cast<double>(any(0, 300)) / 100,
                  {}};
    if (any(0, 2) > 0)
      part.used = HeldPart::Used{seconds(any(0, 1'000'000)), seconds(any(0, 100'000)),
                                 any(0, 1'000'000'000)};
    use.parts.push_back(std::move(part));
  }
  return use;
}

}  // namespace lockstep::launcher::test
