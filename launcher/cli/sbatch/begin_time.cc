#include "launcher/cli/sbatch/begin_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace lockstep::cli {

namespace {

constexpr int kDay = 24 * 60 * 60;

// "3600s" for "+1hour", "+60" or "+2days"; "0s" for "".
std::optional<std::string> from_now(std::string_view text) {
  if (text.empty()) return "0s";
  if (text[0] != '+') return std::nullopt;
  text.remove_prefix(1);
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > 9) return std::nullopt;
  const long long number = std::atoll(std::string(text.substr(0, digits)).c_str());
  std::string_view unit = text.substr(digits);
  if (unit.ends_with('s') && unit.size() > 1) unit.remove_suffix(1);
  struct Unit {
    std::string_view word;
    int seconds;
  };
  constexpr std::array kUnits = std::to_array<Unit>(
      {{"", 1}, {"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", kDay}, {"week", 7 * kDay}});
  for (const Unit& one : kUnits)
    if (one.word == unit) return fmt::format("{}s", number * one.seconds);
  return std::nullopt;
}

std::string stamp(std::time_t time) {
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// The time stamp of a local time in this machine's time zone; the hour may not exist on that day.
std::string stamp(std::tm local) {
  local.tm_isdst = -1;
  return stamp(std::mktime(&local));
}

// The next moment at which clocks here show this time.
std::string next(std::time_t now, int hour, int minute, int second) {
  std::tm local{};
  localtime_r(&now, &local);
  local.tm_hour = hour;
  local.tm_min = minute;
  local.tm_sec = second;
  local.tm_isdst = -1;
  std::tm copy = local;
  if (std::mktime(&copy) <= now) ++local.tm_mday;
  return stamp(local);
}

bool is_time_of_day(int hour, int minute, int second) {
  return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
}

}  // namespace

std::optional<std::string> begin_of_sbatch(const std::string& given, std::time_t now) {
  std::string text = given;
  for (char& c : text)
    if (c != 'T') c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (text.starts_with("now")) return from_now(std::string_view(text).substr(3));
  if (text == "today") return "0s";
  if (text == "tomorrow") return fmt::format("{}s", kDay);
  if (text == "midnight") return next(now, 0, 0, 0);
  if (text == "noon") return next(now, 12, 0, 0);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, end = 0;
  const auto is_all = [&] { return end == static_cast<int>(text.size()); };
  if (std::sscanf(text.c_str(), "%2d:%2d%n:%2d%n", &hour, &minute, &end, &second, &end) >= 2 &&
      is_all() && is_time_of_day(hour, minute, second))
    return next(now, hour, minute, second);
  hour = minute = second = end = 0;
  const int fields = std::sscanf(text.c_str(), "%4d-%2d-%2d%nT%2d:%2d%n:%2d%n", &year, &month, &day,
                                 &end, &hour, &minute, &end, &second, &end);
  const bool is_date = (fields == 3 || fields >= 5) && is_all() && month >= 1 && month <= 12 &&
                       day >= 1 && day <= 31 && is_time_of_day(hour, minute, second);
  if (!is_date) return std::nullopt;
  std::tm local{};
  local.tm_year = year - 1900;
  local.tm_mon = month - 1;
  local.tm_mday = day;
  local.tm_hour = hour;
  local.tm_min = minute;
  local.tm_sec = second;
  return stamp(local);
}

}  // namespace lockstep::cli
