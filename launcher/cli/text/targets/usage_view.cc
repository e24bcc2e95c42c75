#include "launcher/cli/text/targets/usage_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {
namespace {

constexpr const char* kUnknown = "-";
constexpr std::size_t kMostNodeRows = 16;  // the most nodes of one job that have rows
constexpr std::size_t kMostRankLines = 64;

std::string cores(std::int64_t milli) {
  return fmt::format("{:.2f}", static_cast<double>(milli) / 1000);
}

std::string percent(double part, double whole) {
  return whole <= 0 ? std::string() : fmt::format(" {:.0f}%", 100 * part / whole);
}

std::string cpu_cell(std::int64_t milli, int cpus) {
  return fmt::format("{}/{}{}", cores(milli), cpus,
                     percent(static_cast<double>(milli) / 1000, cpus));
}

std::string memory_cell(Bytes used, Bytes of) {
  return fmt::format("{}/{}{}", to_string(used), to_string(of),
                     percent(static_cast<double>(used.count), static_cast<double>(of.count)));
}

std::string rate_cell(std::uint64_t per_second) { return to_string(Bytes{per_second}) + "/s"; }

std::string age_text(Duration age) {
  return format_duration(std::chrono::floor<seconds>(age)) + " old";
}

Bytes gpu_memory_of(const std::vector<GpuUse>& gpus) {
  Bytes sum;
  for (const GpuUse& gpu : gpus) sum.count += gpu.memory.count;
  return sum;
}

// The sum over the parts whose use is known; nullopt: no use is known.
std::optional<UsageNow> sum_of_parts(const std::vector<PartUsage>& parts) {
  std::optional<UsageNow> sum;
  int busy = 0, with_gpus = 0;
  std::vector<RankUse> sums;
  for (const PartUsage& part : parts) {
    if (!part.use) continue;
    if (!sum) sum.emplace();
    sums.push_back(part.use->sum);
    sum->gpu_memory.count += part.use->gpu_memory.count;
    sum->age = std::max(sum->age, part.use->age);
    sum->stale = sum->stale || part.use->stale;
    if (!part.use->gpu_percent) continue;
    busy += *part.use->gpu_percent;
    ++with_gpus;
  }
  if (!sum) return sum;
  sum->sum = sum_of(sums);
  if (with_gpus > 0) sum->gpu_percent = busy / with_gpus;
  return sum;
}

std::vector<std::string> cells_of(const PartUsage& held, const std::optional<UsageNow>& use) {
  if (!use)
    return {fmt::format("{}/{}", kUnknown, held.cpus),
            fmt::format("{}/{}", kUnknown, to_string(held.memory)),
            kUnknown,
            held.gpus == 0 ? "" : fmt::format("{}x {}", held.gpus, kUnknown),
            "",
            kUnknown};
  const bool has_gpu = use->gpu_percent.has_value();
  return {cpu_cell(use->sum.cpu_milli, held.cpus),
          memory_cell(use->sum.memory, held.memory),
          to_string(use->sum.peak_memory),
          held.gpus == 0 ? ""
          : has_gpu      ? fmt::format("{}x {}%", held.gpus, *use->gpu_percent)
                         : fmt::format("{}x {}", held.gpus, kUnknown),
          has_gpu ? to_string(use->gpu_memory) : "",
          format_duration(std::chrono::floor<seconds>(use->sum.cpu_time))};
}

std::string note_of(const JobUsage& job, const std::optional<UsageNow>& use) {
  if (job.silent != Duration::zero())
    return "silent for " + format_duration(std::chrono::floor<seconds>(job.silent));
  return use && use->stale ? age_text(use->age) : "";
}

PartUsage held_by(const JobUsage& job) {
  PartUsage all;
  for (const PartUsage& part : job.parts) {
    all.ranks += part.ranks;
    all.cpus += part.cpus;
    all.memory.count += part.memory.count;
    all.gpus += part.gpus;
  }
  return all;
}

template <typename Item, typename Key>
void sort_by(std::vector<Item>* items, const Key& key) {
  std::stable_sort(items->begin(), items->end(),
                   [&](const Item& a, const Item& b) { return key(a) > key(b); });
}

// The amount of a resource; -1: not known.
std::int64_t amount(UsageOrder order, const NodeUsage& node) {
  if (!node.use) return -1;
  const NodeUse& use = node.use->use;
  switch (order) {
    case UsageOrder::cpu: return use.cpu_milli;
    case UsageOrder::memory: return static_cast<std::int64_t>(use.memory.count >> 1);
    case UsageOrder::gpu: return mean_busy(use.gpus);
    case UsageOrder::network:
      return static_cast<std::int64_t>((use.received_per_second >> 2) + (use.sent_per_second >> 2));
    case UsageOrder::name: return 0;
  }
  return 0;
}

std::int64_t amount(UsageOrder order, const JobUsage& job) {
  const auto use = sum_of_parts(job.parts);
  if (!use) return -1;
  switch (order) {
    case UsageOrder::cpu: return use->sum.cpu_milli;
    case UsageOrder::memory: return static_cast<std::int64_t>(use->sum.memory.count >> 1);
    case UsageOrder::gpu: return use->gpu_percent.value_or(-1);
    case UsageOrder::network:  // not measured for jobs
    case UsageOrder::name: return 0;
  }
  return 0;
}

}  // namespace

std::optional<UsageOrder> usage_order_from(std::string_view word) {
  if (word == "cpu") return UsageOrder::cpu;
  if (word == "memory" || word == "mem") return UsageOrder::memory;
  if (word == "gpu") return UsageOrder::gpu;
  if (word == "network" || word == "net") return UsageOrder::network;
  if (word == "name") return UsageOrder::name;
  return std::nullopt;
}

void sort_usage(UsageOrder order, std::vector<NodeUsage>* nodes, std::vector<JobUsage>* jobs) {
  std::sort(nodes->begin(), nodes->end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::sort(jobs->begin(), jobs->end(), [](const auto& a, const auto& b) { return a.job < b.job; });
  if (order == UsageOrder::name) return;
  sort_by(nodes, [&](const NodeUsage& node) { return amount(order, node); });
  sort_by(jobs, [&](const JobUsage& job) { return amount(order, job); });
}

std::string node_usage_table(const std::vector<NodeUsage>& nodes,
                             std::optional<std::size_t> columns) {
  if (nodes.empty()) return "no nodes; try: lockstep up --nodes 2\n";
  Table table({"NODE", "STATE", "JOBS", "CPU", "MEMORY", "GPU", "GPU MEMORY", "RECEIVES", "SENDS",
               "DISK", "NOTE"});
  for (const NodeUsage& node : nodes) {
    std::vector<std::string> row{
        node.name, std::string(to_string(node.liveness)) + (node.draining ? ",draining" : ""),
        std::to_string(node.jobs)};
    if (!node.use) {
      const std::string gpus =
          node.gpus.empty() ? "" : fmt::format("{}x {}", node.gpus.size(), kUnknown);
      for (const std::string& cell : {fmt::format("{}/{}", kUnknown, node.cpus),
                                      fmt::format("{}/{}", kUnknown, to_string(node.memory)), gpus,
                                      std::string(), std::string(kUnknown), std::string(kUnknown),
                                      std::string(kUnknown), std::string("reports no use")})
        row.push_back(cell);
      table.add(std::move(row));
      continue;
    }
    const NodeUse& use = node.use->use;
    Bytes gpu_total;
    for (const Bytes& memory : node.gpus) gpu_total.count += memory.count;
    row.push_back(cpu_cell(use.cpu_milli, node.cpus));
    row.push_back(memory_cell(use.memory, node.memory));
    row.push_back(use.gpus.empty() ? ""
                                   : fmt::format("{}x {}%", use.gpus.size(), mean_busy(use.gpus)));
    row.push_back(use.gpus.empty() ? "" : memory_cell(gpu_memory_of(use.gpus), gpu_total));
    row.push_back(rate_cell(use.received_per_second));
    row.push_back(rate_cell(use.sent_per_second));
    row.push_back(percent(static_cast<double>(use.disk_used.count),
                          static_cast<double>(use.disk_total.count)));
    row.push_back(node.use->stale ? age_text(node.use->age) : "");
    table.add(std::move(row));
  }
  if (!columns) return table.text();
  return table.text(*columns, {"NODE"}, {"DISK", "GPU MEMORY", "JOBS", "SENDS", "RECEIVES"});
}

std::string job_usage_table(const std::vector<JobUsage>& jobs, std::optional<std::size_t> columns) {
  if (jobs.empty()) return "no job holds a node\n";
  Table table({"JOB", "USER", "STATUS", "NODE", "RANKS", "CPU", "MEMORY", "PEAK", "GPU",
               "GPU MEMORY", "CPU TIME", "NOTE"});
  const auto add = [&](std::array<std::string, 4> head, const PartUsage& held,
                       const std::optional<UsageNow>& use, std::string note) {
    std::vector<std::string> row(std::make_move_iterator(head.begin()),
                                 std::make_move_iterator(head.end()));
    row.push_back(std::to_string(held.ranks));
    for (std::string& cell : cells_of(held, use)) row.push_back(std::move(cell));
    row.push_back(std::move(note));
    table.add(std::move(row));
  };
  for (const JobUsage& job : jobs) {
    const auto sum = sum_of_parts(job.parts);
    const bool single = job.parts.size() == 1;
    add({job.job.value, job.submitter, std::string(to_string(job.status)),
         single ? job.parts[0].node_name : fmt::format("{} nodes", job.parts.size())},
        held_by(job), sum, note_of(job, sum));
    if (single) continue;
    for (std::size_t i = 0; i < std::min(job.parts.size(), kMostNodeRows); ++i) {
      const PartUsage& part = job.parts[i];
      add({"", "", "", part.node_name}, part, part.use,
          part.use && part.use->stale ? age_text(part.use->age) : "");
    }
    if (job.parts.size() > kMostNodeRows)
      add({"", "", "", fmt::format("and {} more", job.parts.size() - kMostNodeRows)}, {}, {}, "");
  }
  if (!columns) return table.text();
  return table.text(*columns, {"JOB", "NODE"},
                    {"CPU TIME", "GPU MEMORY", "USER", "PEAK", "STATUS"});
}

NodeUseLines node_use_lines(const NodeView& node) {
  NodeUseLines lines;
  if (!node.use) return lines;
  const MeasuredNode& measured = *node.use;
  const NodeUse& use = measured.use;
  std::int64_t most = 0, sum = 0;
  for (const UseSample& sample : measured.history) {
    most = std::max(most, sample.cpu_milli);
    sum += sample.cpu_milli;
  }
  lines.cpu = fmt::format("{} of {} cpus", cores(use.cpu_milli), node.inventory.cpus.size());
  if (const auto count = static_cast<std::int64_t>(measured.history.size()); count > 1)
    lines.cpu += fmt::format("; over the last {}: mean {}, highest {}",
                             format_duration(std::chrono::floor<seconds>(measured.history[0].age)),
                             cores(sum / count), cores(most));
  lines.memory = to_string(use.memory);
  for (const GpuUse& gpu : use.gpus)
    lines.gpus.push_back(fmt::format("{}: {}% busy, {} of memory used", gpu.index, gpu.busy_percent,
                                     to_string(gpu.memory)));
  lines.disk = fmt::format("{} of {}", to_string(use.disk_used), to_string(use.disk_total));
  lines.network = fmt::format("receives {}, sends {}", rate_cell(use.received_per_second),
                              rate_cell(use.sent_per_second));
  if (measured.stale) lines.age = age_text(measured.age) + ": the node has stopped reporting it";
  return lines;
}

std::string rank_use_lines(const PartView& part) {
  std::string text;
  std::size_t count = 0;
  const auto io = [](const RankUse& rank) {
    return fmt::format("read {}, wrote {}", to_string(rank.read), to_string(rank.written));
  };
  const auto add = [&](std::string line) {
    if (++count <= kMostRankLines) text += "      " + line + "\n";
  };
  if (part.use) {
    for (const RankUse& rank : part.use->ranks)
      add(fmt::format("rank {}: {} cpus ({} in all), memory {}, peak {}, {}{}", rank.rank,
                      cores(rank.cpu_milli), format_duration(rank.cpu_time), to_string(rank.memory),
                      to_string(rank.peak_memory), io(rank),
                      part.use->stale ? " (" + age_text(part.use->age) + ")" : ""));
  }
  for (const RankUse& rank : part.used)
    add(fmt::format("rank {}: used {} of cpu time, peak memory {}, {}", rank.rank,
                    format_duration(rank.cpu_time), to_string(rank.peak_memory), io(rank)));
  if (count > kMostRankLines)
    text += fmt::format("      and {} more ranks; -o json shows all\n", count - kMostRankLines);
  return text;
}

std::string silence_text(Duration silent) {
  if (silent == Duration::zero()) return "";
  return fmt::format("silent for {}: its ranks have written nothing and used no cpu",
                     format_duration(std::chrono::floor<seconds>(silent)));
}

}  // namespace lockstep::cli
