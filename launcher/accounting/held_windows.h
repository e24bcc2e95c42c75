#pragma once
// How much each user and each project held in the last days, for quotas over a time: "2,000
// GPU-hours in 30 days". Kept as attempts begin and end, so that a question costs a few additions,
// however many jobs there are. Windows are of whole days of UTC: today and the days before it. Part
// of a state: changed by facts alone, with their times. docs/decisions/094-accounting.md.

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "common/domain/quota.h"
#include "launcher/accounting/day.h"

namespace lockstep::launcher {

enum class WindowResource { nodes, cpus, gpus, memory };
inline constexpr WindowResource kWindowResources[] = {WindowResource::nodes, WindowResource::cpus,
                                                      WindowResource::gpus, WindowResource::memory};
std::string_view to_string(WindowResource resource);  // "node-hours", …; memory in GiB-hours

// What is held at a time; memory in MiB.
struct HeldAmounts {
  std::int64_t nodes = 0, cpus = 0, gpus = 0, memory_mib = 0;
  std::int64_t of(WindowResource resource) const;
  friend bool operator==(const HeldAmounts&, const HeldAmounts&) = default;
};

struct WindowLimit {
  WindowResource resource = WindowResource::gpus;
  std::int64_t most_seconds = 0;  // of the resource, times seconds
  int days = 30;                  // 1: today
  friend bool operator==(const WindowLimit&, const WindowLimit&) = default;
};
inline constexpr int kMaxWindowDays = 366;

struct WindowUse {
  std::int64_t used_seconds = 0;
  std::int64_t left_seconds = 0;  // 0: it is used up
  // The first day on which some is left, if nothing is used until then; absent: some is now.
  std::optional<Day> again = {};
  friend bool operator==(const WindowUse&, const WindowUse&) = default;
};

class HeldWindows {
 public:
  // The holder got (`by` = 1) or gave back (-1) these amounts. Times do not go back.
  void hold(Instant at, const QuotaHolder& holder, const HeldAmounts& amounts, int by);

  // What was held in the last `days` days until `now`, times seconds, rounded down.
  std::int64_t held_seconds(const QuotaHolder& holder, WindowResource resource, int days,
                            Instant now) const;
  WindowUse use_of(const QuotaHolder& holder, const WindowLimit& limit, Instant now) const;
  HeldAmounts held_now(const QuotaHolder& holder) const;

  // Forgets days that no window reaches any more, and holders of whom nothing is left.
  void forget_before(Day day);
  std::size_t holders() const { return holders_.size(); }

  friend bool operator==(const HeldWindows&, const HeldWindows&) = default;

 private:
  // Amounts times milliseconds; memory in MiB times seconds.
  struct Bucket {
    std::int64_t nodes = 0, cpus = 0, gpus = 0, memory = 0;
    std::int64_t& of(WindowResource resource);
    std::int64_t of(WindowResource resource) const;
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  struct Holder {
    HeldAmounts held;
    Instant since;  // `days` has all up to then
    std::map<Day, Bucket> days;
    friend bool operator==(const Holder&, const Holder&) = default;
  };
  // Visits each day from `holder.since` until `now`, with the milliseconds of it.
  template <typename Visit>
  static void each_day_since(const Holder& holder, Instant now, const Visit& visit);
  static void bring_up_to(Holder& holder, Instant now);
  // In the units of a bucket, of days from `first` on.
  static std::map<Day, std::int64_t> by_day(const Holder& holder, WindowResource resource,
                                            Day first, Instant now);

  std::map<QuotaHolder, Holder> holders_;
};

}  // namespace lockstep::launcher
