#include "common/domain/targets/cron.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

namespace lockstep {
namespace {

using Names = std::vector<std::string_view>;

struct CronField {
  std::string_view name;
  int least, most;
  const Names* names = nullptr;  // names of the numbers from `least` on
};

const Names kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                    "jul", "aug", "sep", "oct", "nov", "dec"};
const Names kDays{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr int kDaysToSearch = 36'600;

const std::array<CronField, 5>& fields() {
  static const std::array<CronField, 5> kFields{{{"minute", 0, 59},
                                                 {"hour", 0, 23},
                                                 {"day of month", 1, 31},
                                                 {"month", 1, 12, &kMonths},
                                                 {"day of week", 0, 7, &kDays}}};
  return kFields;
}

std::string lower(std::string_view text) {
  std::string low(text);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low;
}

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const auto end = std::min(text.find_first_of(at, from), text.size());
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && number >= 0 ? std::optional(number) : std::nullopt;
}

Error bad(const CronField& field, std::string message) {
  return make_error(ErrorCode::invalid_argument, fmt::format("{}: {}", field.name, message));
}

Result<int> read_value(const CronField& field, std::string_view text) {
  if (const auto number = number_of(text);
      number && *number >= field.least && *number <= field.most)
    return *number;
  if (field.names != nullptr)
    for (std::size_t i = 0; i < field.names->size(); ++i)
      if ((*field.names)[i] == lower(text)) return field.least + static_cast<int>(i);
  return bad(
      field,
      fmt::format(
          "'{}' is not a number from {} to {}{}", text.substr(0, 20), field.least, field.most,
          field.names == nullptr ? "" : fmt::format(" or a name such as {}", (*field.names)[1])));
}

// Reads one item of a list: "*", "5", "1-5" or "mon-fri", each range also with "/2".
Result<std::uint64_t> read_item(const CronField& field, std::string_view item) {
  if (item.empty()) return bad(field, "there is nothing before or after a comma");
  const auto slash = item.find('/');
  const std::string_view range = item.substr(0, slash);
  const auto dash = range.find('-');
  int first = field.least, last = field.most, step = 1;
  if (range != "*") {
    TRY_ASSIGN(first, read_value(field, range.substr(0, dash)));
    last = first;
    if (dash != std::string_view::npos) {
      TRY_ASSIGN(last, read_value(field, range.substr(dash + 1)));
    }
  }
  const bool ends_on_sunday = field.names == &kDays && last == 0 && first > 0;
  if (ends_on_sunday) last = 7;
  if (last < first)
    return bad(field, fmt::format("'{}' ends before it begins; write two ranges", range));
  if (slash != std::string_view::npos) {
    if (range != "*" && dash == std::string_view::npos)
      return bad(field,
                 fmt::format("'{}' has a step without a range; write {}-{}/{} or */{}", item, range,
                             field.most, item.substr(slash + 1), item.substr(slash + 1)));
    const auto number = number_of(item.substr(slash + 1));
    if (!number || *number < 1 || *number > field.most)
      return bad(field, fmt::format("'{}' is not a step from 1 to {}", item.substr(slash + 1),
                                    field.most));
    step = *number;
  }
  std::uint64_t bits = 0;
  for (int value = first; value <= last; value += step) bits |= std::uint64_t{1} << value;
  return bits;
}

Result<std::uint64_t> read_field(const CronField& field, std::string_view text) {
  std::uint64_t bits = 0;
  for (const std::string_view item : split(text, ",")) {
    TRY_ASSIGN(const std::uint64_t more, read_item(field, item));
    bits |= more;
  }
  return bits;
}

bool has(std::uint64_t bits, unsigned value) { return (bits >> value & 1) != 0; }

// Compares with the longest length of each month.
bool has_such_days(const Cron& cron) {
  if (!cron.any_day && !cron.any_week_day) return true;  // some day has this day of the week
  for (unsigned month = 1; month <= 12; ++month) {
    const std::chrono::year_month longest{std::chrono::year(2024), std::chrono::month(month)};
    if (!has(cron.months, month)) continue;
    for (int day = 1; day <= last_day_of(longest); ++day)
      if (has(cron.days, static_cast<unsigned>(day))) return true;
  }
  return false;
}

bool matches_day(const Cron& cron, std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  if (!has(cron.months, static_cast<unsigned>(date.month()))) return false;
  const bool in_month = has(cron.days, static_cast<unsigned>(date.day()));
  const bool in_week = has(cron.week_days, std::chrono::weekday(day).c_encoding());
  const bool is_both = cron.any_day || cron.any_week_day;
  return is_both ? in_month && in_week : in_month || in_week;
}

}  // namespace

Result<Cron> parse_cron(std::string_view expression) {
  if (expression.size() > kMaxCronBytes)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("has {} bytes; at most {} are possible", expression.size(), kMaxCronBytes));
  std::vector<std::string_view> words;
  for (const std::string_view word : split(expression, " \t"))
    if (!word.empty()) words.push_back(word);
  if (words.size() != fields().size())
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("'{}' has {} fields; there must be five: minute, hour, day of month, month and "
                    "day of week, such as '0 8 * * 1-5'",
                    expression, words.size()));
  Cron cron;
  std::uint64_t* const bits[] = {&cron.minutes, &cron.hours, &cron.days, &cron.months,
                                 &cron.week_days};
  for (std::size_t i = 0; i < words.size(); ++i) {
    TRY_ASSIGN(*bits[i], read_field(fields()[i], words[i]));
  }
  if (has(cron.week_days, 7)) cron.week_days |= 1;
  cron.any_day = words[2].starts_with('*');
  cron.any_week_day = words[4].starts_with('*');
  if (!has_such_days(cron))
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("'{}' never fires: none of its months has such a day", expression));
  return cron;
}

std::optional<LocalTime> next_match(const Cron& cron, LocalTime from) {
  std::chrono::sys_days day = day_of(from);
  // Schedules have no seconds.
  auto minute = static_cast<unsigned>((second_of_day(from) + 59) / 60);
  for (int days = 0; days < kDaysToSearch; ++days, day += std::chrono::days(1), minute = 0) {
    if (!matches_day(cron, day)) continue;
    for (; minute < 24 * 60; ++minute) {
      if (!has(cron.hours, minute / 60))
        minute += 59 - minute % 60;  // continues with the next hour
      else if (has(cron.minutes, minute % 60))
        return at_second(day, std::int64_t{minute} * 60);
    }
  }
  return std::nullopt;
}

}  // namespace lockstep
