#include "launcher/accounting/usage_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/base/time.h"

namespace lockstep::launcher {
namespace {

constexpr double kMebibytesOfGibibyte = 1024;
constexpr std::int64_t kLongestWait = 1'000'000'000;  // that is shown, in seconds

double seconds_of(UsageUnit unit) {
  switch (unit) {
    case UsageUnit::seconds: return 1;
    case UsageUnit::minutes: return 60;
    case UsageUnit::hours: return 3'600;
  }
  return 1;
}
std::string_view letter_of(UsageUnit unit) {
  switch (unit) {
    case UsageUnit::seconds: return "S";
    case UsageUnit::minutes: return "M";
    case UsageUnit::hours: return "H";
  }
  return "?";
}

// "-": nothing was measured.
std::string percent(std::int64_t used, std::int64_t of) {
  if (of <= 0) return "-";
  return fmt::format("{:.0f}%", 100.0 * static_cast<double>(used) / static_cast<double>(of));
}

std::string mean_wait(const UsageSums& sums) {
  if (sums.waits == 0) return "-";
  return format_duration(seconds(std::min(sums.wait_seconds / sums.waits, kLongestWait)));
}

std::vector<std::string> numbers_of(const UsageSums& sums, UsageUnit unit) {
  const auto amount = [&](std::int64_t in_seconds) {
    const double value = static_cast<double>(in_seconds) / seconds_of(unit);
    return unit == UsageUnit::seconds ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
  };
  const double gibibytes =
      static_cast<double>(sums.memory_mib_seconds) / kMebibytesOfGibibyte / seconds_of(unit);
  return {std::to_string(sums.started),
          std::to_string(sums.failed),
          mean_wait(sums),
          amount(sums.node_seconds),
          amount(sums.cpu_seconds),
          percent(sums.used_cpu_seconds, sums.measured_cpu_seconds),
          amount(sums.gpu_seconds),
          percent(sums.used_gpu_seconds, sums.measured_gpu_seconds),
          fmt::format("{:.1f}", gibibytes),
          percent(sums.used_memory_mib_seconds, sums.measured_memory_mib_seconds),
          sums.cost_micros == 0
              ? "-"
              : fmt::format("{:.2f}", static_cast<double>(sums.cost_micros) / 1e6)};
}

}  // namespace

std::optional<UsageUnit> usage_unit_from(std::string_view word) {
  if (word == "seconds") return UsageUnit::seconds;
  if (word == "minutes") return UsageUnit::minutes;
  if (word == "hours") return UsageUnit::hours;
  return std::nullopt;
}

Grid usage_table(const UsageReport& report, UsageUnit unit) {
  Grid grid;
  for (const UsageBy by : report.by) {
    std::string name(to_string(by));
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    grid.columns.push_back({std::move(name), false});
  }
  const std::string_view letter = letter_of(unit);
  for (std::string name : {std::string("ATTEMPTS"), std::string("FAILED"), std::string("WAIT"),
                           fmt::format("NODE-{}", letter), fmt::format("CPU-{}", letter),
                           std::string("USED"), fmt::format("GPU-{}", letter), std::string("BUSY"),
                           fmt::format("GIB-{}", letter), std::string("USED"), std::string("COST")})
    grid.columns.push_back({std::move(name), true});
  const auto add = [&](std::vector<std::string> cells, const UsageSums& sums) {
    for (std::string& number : numbers_of(sums, unit)) cells.push_back(std::move(number));
    grid.rows.push_back(std::move(cells));
  };
  for (const UsageReport::Row& row : report.rows) add(row.keys, row.sums);
  std::vector<std::string> keys(report.by.size(), "");
  keys.front() = "total";
  add(std::move(keys), report.total);
  return grid;
}

Grid usage_cells(const UsageReport& report) {
  Grid grid;
  for (const UsageBy by : report.by) grid.columns.push_back({std::string(to_string(by)), false});
  for (const UsageField& field : usage_fields())
    grid.columns.push_back({std::string(field.name), true});
  for (const UsageReport::Row& row : report.rows) {
    std::vector<std::string> cells = row.keys;
    for (const UsageField& field : usage_fields())
      cells.push_back(std::to_string(row.sums.*field.value));
    grid.rows.push_back(std::move(cells));
  }
  return grid;
}

}  // namespace lockstep::launcher
