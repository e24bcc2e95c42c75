#include "runner/usage/rank_sampler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "common/io/file_system.h"

namespace lockstep::runner {
namespace {

constexpr Duration kFirstSampleAfter = seconds(1);

Duration time_of(std::uint64_t ticks) {
  static const auto per_second = static_cast<std::uint64_t>(std::max(sysconf(_SC_CLK_TCK), 1L));
  return Duration(static_cast<std::int64_t>(ticks * (1'000'000'000 / per_second)));
}

Bytes size_of_pages(std::uint64_t pages) {
  static const auto size = static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
  return Bytes{pages * size};
}

std::vector<int> members_of(const std::string& cgroup) {
  std::vector<int> pids;
  std::istringstream in(io::read_file(cgroup + "/cgroup.procs").value_or(""));
  for (int pid = 0; in >> pid;)
    if (pid > 0) pids.push_back(pid);
  return pids;
}

}  // namespace

void RankSampler::started(Instant now, int rank, int pid) {
  if (every_ == Duration::zero()) return;
  Rank& one = ranks_[rank];
  one.pid = pid;
  one.sampled = now;
  one.use.rank = rank;
  active_ = now;
  next_ = std::min(next_, now + std::min(every_, kFirstSampleAfter));
}

void RankSampler::exited(int rank, Duration cpu_time, Bytes largest) {
  Rank& one = ranks_[rank];
  one.live = false;
  one.use.rank = rank;
  one.use.cpu_milli = 0;
  one.use.memory = {};
  one.use.cpu_time = std::max(one.use.cpu_time, cpu_time);
  one.use.peak_memory = std::max(one.use.peak_memory, largest);
}

RankUse RankSampler::used(int rank) const {
  const auto found = ranks_.find(rank);
  return found == ranks_.end() ? RankUse{rank, 0, {}, {}, {}, {}, {}} : found->second.use;
}

std::optional<std::string> RankSampler::read(int pid, const char* file) const {
  auto text = io::read_file(fmt::format("{}/proc/{}/{}", root_, pid, file));
  if (!text) return std::nullopt;
  return *std::move(text);
}

std::vector<ProcessUse> RankSampler::all_processes() const {
  std::vector<ProcessUse> all;
  const auto names = io::list_directory(root_ + "/proc");
  if (!names) return all;
  for (const std::string& name : *names) {
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); }))
      continue;
    const auto stat = read(std::atoi(name.c_str()), "stat");
    if (const auto process = stat ? parse_stat(*stat) : std::nullopt) all.push_back(*process);
  }
  return all;
}

// Finds our pids of the ranks. If lockstep-spawn is in this pid namespace, its pids are valid here.
void RankSampler::find_our_pids(int spawn_pid, const std::vector<ProcessUse>& all) {
  for (const ProcessUse& process : all) {
    if (process.parent != spawn_pid) continue;
    const auto status = read(process.pid, "status");
    const int own = (status ? parse_own_pid(*status) : std::nullopt).value_or(process.pid);
    for (auto& [number, rank] : ranks_)
      if (rank.live && rank.pid == own) rank.our_pid = process.pid;
  }
}

// The time of a process that no process of the rank has reaped is lost; the sum never decreases.
void RankSampler::measure(Instant now, Rank& rank, const std::vector<int>& pids,
                          const std::string& cgroup) {
  std::uint64_t ticks = 0, pages = 0, most_pages = 0;
  ProcessIo io;
  for (const int pid : pids) {
    const auto stat = read(pid, "stat");
    const auto process = stat ? parse_stat(*stat) : std::nullopt;
    if (!process) continue;
    ticks += process->cpu_ticks;
    pages += process->resident_pages;
    most_pages = std::max(most_pages, process->resident_pages);
    const auto text = read(pid, "io");
    const auto one = text ? parse_io(*text) : std::nullopt;
    if (!one) continue;
    io.read += one->read;
    io.written += one->written;
  }
  RankUse& use = rank.use;
  const Duration spent = ticks > rank.ticks ? time_of(ticks - rank.ticks) : Duration::zero();
  use.cpu_time += spent;
  if (now > rank.sampled)
    use.cpu_milli = static_cast<std::int64_t>(1000.0 * static_cast<double>(spent.count()) /
                                              static_cast<double>((now - rank.sampled).count()));
  rank.ticks = ticks;
  rank.sampled = now;
  const auto text =
      cgroup.empty() ? Result<std::string>(Error{}) : io::read_file(cgroup + "/memory.stat");
  const auto resident = text ? parse_resident(*text) : std::nullopt;
  // The cgroup does not count memory that a rank had before it joined.
  use.memory = resident ? std::max(*resident, size_of_pages(most_pages)) : size_of_pages(pages);
  use.peak_memory = std::max(use.peak_memory, use.memory);
  use.read = std::max(use.read, Bytes{io.read});
  use.written = std::max(use.written, Bytes{io.written});
}

PartUse RankSampler::sample(Instant now, const Look& look) {
  PartUse part;
  std::vector<ProcessUse> all;
  std::int64_t cpu_milli = 0;
  bool any_live = false;
  for (auto& [number, rank] : ranks_) {
    if (!rank.live) continue;
    any_live = true;
    const std::string cgroup = look.cgroup ? look.cgroup(number) : "";
    std::vector<int> pids = cgroup.empty() ? std::vector<int>{} : members_of(cgroup);
    if (pids.empty() && all.empty()) all = all_processes();
    if (pids.empty() && !rank.our_pid) find_our_pids(look.spawn_pid, all);
    if (pids.empty() && rank.our_pid) {
      pids = tree_of(all, *rank.our_pid);
      pids.push_back(*rank.our_pid);
    }
    measure(now, rank, pids, cgroup);
    cpu_milli += rank.use.cpu_milli;
    if (part.ranks.size() < kMaxRanksOfUse) part.ranks.push_back(rank.use);
  }
  if (cpu_milli >= kIdleCpuMilli || look.logged != logged_) active_ = now;
  logged_ = look.logged;
  part.quiet = now - active_;
  next_ = any_live ? now + every_ : Instant::never();
  return part;
}

}  // namespace lockstep::runner
