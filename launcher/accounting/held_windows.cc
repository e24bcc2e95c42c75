#include "launcher/accounting/held_windows.h"

#include <algorithm>
#include <iterator>

#include "common/base/check.h"
#include "launcher/accounting/usage_sums.h"

namespace lockstep::launcher {
namespace {

constexpr std::int64_t kMillisecondsOfSecond = 1'000;

Day first_day_of_window(int days, Instant now) { return utc_day(now) - (std::max(days, 1) - 1); }

std::int64_t milliseconds_between(Instant from, Instant until) {
  return std::chrono::floor<milliseconds>(Duration(until.ns)).count() -
         std::chrono::floor<milliseconds>(Duration(from.ns)).count();
}

// Amounts times this time, as buckets count it.
std::int64_t amount_of(WindowResource resource, std::int64_t held, std::int64_t ms) {
  const bool is_memory = resource == WindowResource::memory;
  return is_memory ? held_after(held, ms) : bounded_product(held, ms);
}

std::int64_t in_whole_seconds(WindowResource resource, std::int64_t amount) {
  return resource == WindowResource::memory ? amount : amount / kMillisecondsOfSecond;
}

}  // namespace

std::string_view to_string(WindowResource resource) {
  switch (resource) {
    case WindowResource::nodes: return "node-hours";
    case WindowResource::cpus: return "cpu-hours";
    case WindowResource::gpus: return "gpu-hours";
    case WindowResource::memory: return "memory-hours";
  }
  return "?";
}

std::int64_t HeldAmounts::of(WindowResource resource) const {
  switch (resource) {
    case WindowResource::nodes: return nodes;
    case WindowResource::cpus: return cpus;
    case WindowResource::gpus: return gpus;
    case WindowResource::memory: return memory_mib;
  }
  return 0;
}

std::int64_t& HeldWindows::Bucket::of(WindowResource resource) {
  switch (resource) {
    case WindowResource::nodes: return nodes;
    case WindowResource::cpus: return cpus;
    case WindowResource::gpus: return gpus;
    case WindowResource::memory: break;
  }
  return memory;
}

std::int64_t HeldWindows::Bucket::of(WindowResource resource) const {
  return Bucket(*this).of(resource);
}

template <typename Visit>
void HeldWindows::each_day_since(const Holder& holder, Instant now, const Visit& visit) {
  if (holder.held == HeldAmounts{}) return;
  for (Instant from = holder.since; from < now;) {
    const Day day = utc_day(from);
    const Instant until = std::min(begin_of(day + 1), now);
    visit(day, milliseconds_between(from, until));
    from = until;
  }
}

void HeldWindows::bring_up_to(Holder& holder, Instant now) {
  each_day_since(holder, now, [&](Day day, std::int64_t ms) {
    Bucket& bucket = holder.days[day];
    for (const WindowResource resource : kWindowResources)
      bucket.of(resource) =
          bounded_sum(bucket.of(resource), amount_of(resource, holder.held.of(resource), ms));
  });
  holder.since = std::max(holder.since, now);
}

std::map<Day, std::int64_t> HeldWindows::by_day(const Holder& holder, WindowResource resource,
                                                Day first, Instant now) {
  std::map<Day, std::int64_t> days;
  for (auto day = holder.days.lower_bound(first); day != holder.days.end(); ++day)
    days.emplace_hint(days.end(), day->first, day->second.of(resource));
  each_day_since(holder, now, [&](Day day, std::int64_t ms) {
    if (day < first) return;
    std::int64_t& amount = days[day];
    amount = bounded_sum(amount, amount_of(resource, holder.held.of(resource), ms));
  });
  return days;
}

void HeldWindows::hold(Instant at, const QuotaHolder& who, const HeldAmounts& amounts, int by) {
  Holder& holder = holders_[who];
  bring_up_to(holder, at);
  holder.held.nodes += by * amounts.nodes;
  holder.held.cpus += by * amounts.cpus;
  holder.held.gpus += by * amounts.gpus;
  holder.held.memory_mib += by * amounts.memory_mib;
  CHECK(holder.held.nodes >= 0, "what is given back was held before");
}

std::int64_t HeldWindows::held_seconds(const QuotaHolder& who, WindowResource resource, int days,
                                       Instant now) const {
  const auto found = holders_.find(who);
  if (found == holders_.end()) return 0;
  std::int64_t sum = 0;
  for (const auto& [day, amount] :
       by_day(found->second, resource, first_day_of_window(days, now), now))
    sum = bounded_sum(sum, amount);
  return in_whole_seconds(resource, sum);
}

WindowUse HeldWindows::use_of(const QuotaHolder& who, const WindowLimit& limit, Instant now) const {
  WindowUse use;
  use.used_seconds = held_seconds(who, limit.resource, limit.days, now);
  use.left_seconds = std::max<std::int64_t>(limit.most_seconds - use.used_seconds, 0);
  const auto found = holders_.find(who);
  if (use.left_seconds > 0 || limit.most_seconds <= 0 || found == holders_.end()) return use;
  // Days leave the window one by one, the oldest first.
  std::int64_t rest = 0;
  const auto days =
      by_day(found->second, limit.resource, first_day_of_window(limit.days, now), now);
  for (const auto& [day, amount] : days) rest = bounded_sum(rest, amount);
  for (const auto& [day, amount] : days) {
    rest -= amount;
    if (in_whole_seconds(limit.resource, rest) >= limit.most_seconds) continue;
    use.again = day + std::max(limit.days, 1);
    return use;
  }
  return use;
}

HeldAmounts HeldWindows::held_now(const QuotaHolder& who) const {
  const auto found = holders_.find(who);
  return found == holders_.end() ? HeldAmounts{} : found->second.held;
}

void HeldWindows::forget_before(Day day) {
  for (auto holder = holders_.begin(); holder != holders_.end();) {
    std::map<Day, Bucket>& days = holder->second.days;
    days.erase(days.begin(), days.lower_bound(day));
    const bool is_empty = days.empty() && holder->second.held == HeldAmounts{};
    holder = is_empty ? holders_.erase(holder) : std::next(holder);
  }
}

}  // namespace lockstep::launcher
