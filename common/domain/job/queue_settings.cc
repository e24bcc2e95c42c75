#include "common/domain/job/queue_settings.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <ctime>
#include <set>

#include "common/grammar/job_name.h"

namespace lockstep {

Word describe(Priority priority) {
  switch (priority) {
    case Priority::low: return {1, "low"};
    case Priority::medium: return {2, "medium"};
    case Priority::high: return {3, "high"};
  }
  return {};
}
std::string_view to_string(Priority priority) { return describe(priority).word; }

std::optional<Priority> priority_from(std::string_view word) {
  for (const Priority priority : kPriorities)
    if (word == to_string(priority)) return priority;
  return std::nullopt;
}

Word describe(JobTier tier) {
  switch (tier) {
    case JobTier::unset: return {1, "unset"};
    case JobTier::spot: return {2, "spot"};
    case JobTier::basic: return {3, "basic"};
    case JobTier::standard: return {4, "standard"};
    case JobTier::premium: return {5, "premium"};
  }
  return {};
}
std::string_view to_string(JobTier tier) {
  return tier == JobTier::unset ? "" : describe(tier).word;
}

Word describe(AfterWhen when) {
  switch (when) {
    case AfterWhen::completed: return {1, "completed"};
    case AfterWhen::ended: return {2, "ended"};
  }
  return {};
}
std::string_view to_string(AfterWhen when) { return describe(when).word; }

std::optional<AfterWhen> after_when_from(std::string_view word) {
  for (const AfterWhen when : {AfterWhen::completed, AfterWhen::ended})
    if (word == to_string(when)) return when;
  return std::nullopt;
}

namespace {

Error bad_queue_setting(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

// Reads a number of exactly `digits` digits at `at`, and moves `at` past it.
std::optional<int> digits_at(std::string_view text, std::size_t& at, std::size_t digits) {
  if (at + digits > text.size()) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(at, digits)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
    number = 10 * number + (c - '0');
  }
  at += digits;
  return number;
}

bool skip(std::string_view text, std::size_t& at, std::string_view one_of) {
  if (at >= text.size() || one_of.find(text[at]) == std::string_view::npos) return false;
  ++at;
  return true;
}

// "Z", "+01:00" or "+0100" at the end of the text, as seconds ahead of UTC.
std::optional<int> zone_at(std::string_view text, std::size_t at) {
  if (text.substr(at) == "Z" || text.substr(at) == "z") return 0;
  const bool is_west = at < text.size() && text[at] == '-';
  if (!skip(text, at, "+-")) return std::nullopt;
  const auto hours = digits_at(text, at, 2);
  skip(text, at, ":");
  const auto minutes = hours ? digits_at(text, at, 2) : std::nullopt;
  if (!minutes || at != text.size() || *hours > 14 || *minutes > 59) return std::nullopt;
  return (is_west ? -1 : 1) * (*hours * 3600 + *minutes * 60);
}

// Reads RFC 3339; a blank may replace the T, and the seconds may be missing.
std::optional<Instant> time_stamp(std::string_view text) {
  std::size_t at = 0;
  std::tm time{};
  const auto year = digits_at(text, at, 4);
  const auto month = year && skip(text, at, "-") ? digits_at(text, at, 2) : std::nullopt;
  const auto day = month && skip(text, at, "-") ? digits_at(text, at, 2) : std::nullopt;
  const auto hour = day && skip(text, at, "Tt ") ? digits_at(text, at, 2) : std::nullopt;
  const auto minute = hour && skip(text, at, ":") ? digits_at(text, at, 2) : std::nullopt;
  if (!minute) return std::nullopt;
  std::optional<int> second = 0;
  if (skip(text, at, ":")) second = digits_at(text, at, 2);
  const auto zone = second ? zone_at(text, at) : std::nullopt;
  if (!zone || *year < 1970 || *year > 2200 || *hour > 23 || *minute > 59 || *second > 60)
    return std::nullopt;
  time.tm_year = *year - 1900;
  time.tm_mon = *month - 1;
  time.tm_mday = *day;
  time.tm_hour = *hour;
  time.tm_min = *minute;
  time.tm_sec = *second;
  const std::time_t seconds = ::timegm(&time);  // a day that does not exist becomes another one
  if (time.tm_mon != *month - 1 || time.tm_mday != *day) return std::nullopt;
  return Instant{(static_cast<std::int64_t>(seconds) - *zone) * 1'000'000'000};
}

}  // namespace

Status validate(const QueueSettings& queue) {
  if (queue.after.size() > kMaxAfter)
    return bad_queue_setting("lockstep.after: names " + std::to_string(queue.after.size()) +
                             " jobs; at most " + std::to_string(kMaxAfter) + " are possible");
  std::set<std::string> names;
  for (const After& after : queue.after) {
    if (const Status named = validate_job_name(after.job.value); !named)
      return named.error().within("lockstep.after");
    if (!names.insert(after.job.value).second)
      return bad_queue_setting("lockstep.after: names job '" + after.job.value + "' twice");
  }
  if (queue.delay < Duration::zero() || queue.delay > kMaxDelay)
    return bad_queue_setting("lockstep.not_before: must be at most " + format_duration(kMaxDelay) +
                             " from now");
  return {};
}

Result<After> after_from(const std::string& text) {
  After after;
  const auto colon = text.find(':');
  after.job = JobId(text.substr(0, colon));
  if (const Status named = validate_job_name(after.job.value); !named) return named.error();
  if (colon == std::string::npos) return after;
  const auto when = after_when_from(text.substr(colon + 1));
  if (!when)
    return bad_queue_setting("'" + text +
                             "': write NAME or NAME:completed (it must have Completed), or " +
                             "NAME:ended (it must have ended in any way)");
  after.when = *when;
  return after;
}

Status read_not_before(const std::string& text, QueueSettings* queue) {
  if (const Duration delay = parse_duration(text); delay >= Duration::zero()) {
    queue->delay = delay;
    return {};
  }
  const auto time = time_stamp(text);
  if (!time)
    return bad_queue_setting(
        "'" + text + "' is neither a time from now, such as 90s, 5m or 2h, nor a time " +
        "stamp with a zone, such as 2026-11-26T18:00:00Z or 2026-11-26T18:00+01:00");
  queue->not_before = *time;
  return {};
}

}  // namespace lockstep
