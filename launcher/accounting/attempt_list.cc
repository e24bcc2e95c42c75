#include "launcher/accounting/attempt_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace lockstep::launcher {
namespace {

// Names of columns, and whether they are numbers.
constexpr std::pair<std::string_view, bool> kForPeople[] = {
    {"ATTEMPT", false}, {"USER", false},  {"TARGET", false}, {"STATE", false},
    {"EXIT", true},     {"NODES", true},  {"CPUS", true},    {"GPUS", true},
    {"MEMORY", true},   {"WAITED", true}, {"ELAPSED", true}, {"CPU-TIME", true}};
constexpr std::pair<std::string_view, bool> kForPrograms[] = {{"job", false},
                                                              {"attempt", true},
                                                              {"user", false},
                                                              {"project", false},
                                                              {"target", false},
                                                              {"state", false},
                                                              {"exit_code", true},
                                                              {"submitted", false},
                                                              {"placed", false},
                                                              {"ended", false},
                                                              {"wait_seconds", true},
                                                              {"elapsed_seconds", true},
                                                              {"nodes", true},
                                                              {"cpus", true},
                                                              {"gpus", true},
                                                              {"memory_bytes", true},
                                                              {"used_cpu_seconds", true},
                                                              {"used_gpu_seconds", true},
                                                              {"used_memory_mib_seconds", true},
                                                              {"price_per_hour", true}};

struct InAll {
  std::size_t nodes = 0;
  std::int64_t cpus = 0, gpus = 0;
  std::uint64_t memory = 0;
  double price_per_hour = 0;
  std::optional<HeldPart::Used> used;  // absent: of one of its parts it is unknown
};

InAll in_all(const AttemptUse& attempt) {
  InAll all;
  all.nodes = attempt.parts.size();
  if (!attempt.parts.empty()) all.used = HeldPart::Used{};
  for (const HeldPart& part : attempt.parts) {
    all.cpus += part.cpus;
    all.gpus += part.gpus;
    all.memory += part.memory.count;
    all.price_per_hour += part.price_per_hour;
    if (!part.used) all.used.reset();
    if (!all.used) continue;
    all.used->cpu += part.used->cpu;
    all.used->gpu += part.used->gpu;
    all.used->memory_mib_seconds += part.used->memory_mib_seconds;
  }
  return all;
}

std::string in_seconds(Duration time) {
  return std::to_string(std::chrono::floor<seconds>(time).count());
}
std::string time_cell(const std::optional<Instant>& time) { return time ? to_string(*time) : ""; }
std::string name_of_attempt(const AttemptUse& attempt) {
  return attempt.attempt.number == 0
             ? attempt.attempt.job.value
             : fmt::format("{}.{}", attempt.attempt.job.value, attempt.attempt.number);
}

}  // namespace

std::string slurm_time(Duration time) {
  const std::int64_t s = std::max<std::int64_t>(std::chrono::floor<seconds>(time).count(), 0);
  const std::string clock = fmt::format("{:02}:{:02}:{:02}", s / 3'600 % 24, s / 60 % 60, s % 60);
  return s < 86'400 ? clock : fmt::format("{}-{}", s / 86'400, clock);
}

Grid attempt_table(std::span<const AttemptUse> attempts, Instant now) {
  Grid grid;
  for (const auto& [name, is_number] : kForPeople)
    grid.columns.push_back({std::string(name), is_number});
  for (const AttemptUse& attempt : attempts) {
    const InAll all = in_all(attempt);
    grid.rows.push_back({name_of_attempt(attempt), attempt.user, attempt.target,
                         std::string(to_string(attempt.outcome)),
                         attempt.exit_code ? std::to_string(*attempt.exit_code) : "-",
                         std::to_string(all.nodes), std::to_string(all.cpus),
                         std::to_string(all.gpus), to_string(Bytes{all.memory}),
                         slurm_time(waited(attempt, now)), slurm_time(elapsed(attempt, now)),
                         all.used ? slurm_time(all.used->cpu) : "-"});
  }
  return grid;
}

Grid attempt_cells(std::span<const AttemptUse> attempts, Instant now) {
  Grid grid;
  for (const auto& [name, is_number] : kForPrograms)
    grid.columns.push_back({std::string(name), is_number});
  for (const AttemptUse& attempt : attempts) {
    const InAll all = in_all(attempt);
    grid.rows.push_back({attempt.attempt.job.value,
                         attempt.attempt.number == 0 ? "" : std::to_string(attempt.attempt.number),
                         attempt.user,
                         attempt.project,
                         attempt.target,
                         std::string(to_string(attempt.outcome)),
                         attempt.exit_code ? std::to_string(*attempt.exit_code) : "",
                         to_string(attempt.submitted),
                         time_cell(attempt.placed),
                         time_cell(attempt.ended),
                         in_seconds(waited(attempt, now)),
                         in_seconds(elapsed(attempt, now)),
                         std::to_string(all.nodes),
                         std::to_string(all.cpus),
                         std::to_string(all.gpus),
                         std::to_string(all.memory),
                         all.used ? in_seconds(all.used->cpu) : "",
                         all.used ? in_seconds(all.used->gpu) : "",
                         all.used ? std::to_string(all.used->memory_mib_seconds) : "",
                         all.price_per_hour > 0 ? fmt::format("{}", all.price_per_hour) : ""});
  }
  return grid;
}

}  // namespace lockstep::launcher
