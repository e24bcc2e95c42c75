#include "runner/watch/rank_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "common/io/file_system.h"
#include "runner/usage/process_use.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kMaxOwnPids = 65'536;
constexpr std::size_t kMaxCgroupLevels = 8;
// Descriptors of one process that one look reads at most.
constexpr std::size_t kMaxTargetsOfLook = 256;
constexpr char kCgroupRoot[] = "/sys/fs/cgroup";

// The descriptors of one process, each read once in a look.
class ProcessDescriptors final : public DescriptorSource {
 public:
  ProcessDescriptors(const ProcReader& proc, int pid, int rank, const SocketTable* table,
                     const SocketOwners& owners)
      : proc_(proc), pid_(pid), rank_(rank), table_(table), owners_(owners) {}

  Descriptor descriptor(int fd) override {
    const auto known = links_.find(fd);
    if (known != links_.end()) return known->second;
    if (links_.size() >= kMaxTargetsOfLook) return {};
    return links_[fd] = proc_.descriptor(pid_, fd).value_or(Descriptor{});
  }
  std::vector<int> epoll_targets(int fd) override {
    const auto known = epolls_.find(fd);
    if (known != epolls_.end()) return known->second;
    return epolls_[fd] = proc_.epoll_targets(pid_, fd, kMaxPolled);
  }
  std::vector<int> polled(std::uint64_t address, std::uint64_t count) override {
    return proc_.polled(pid_, address, count, kMaxPolled);
  }
  const TcpSocket* socket(std::uint64_t inode) override {
    return table_ == nullptr ? nullptr : table_->by_inode(inode);
  }
  // The other end may be this process, a rank, or the PMIx server, where ranks meet as they do at
  // the store. The rank that has the store serves it beside its work.
  WaitsOn kind_of(const TcpSocket& socket) override {
    if (table_->is_store(socket)) return WaitsOn::store;
    if (socket.state == TcpState::listens) return WaitsOn::listener;
    const TcpSocket* const other = table_->other_end(socket);
    const int owner = other == nullptr ? SocketOwners::kNobody : owners_.owner(other->inode);
    if (owner == SocketOwners::kPmixServer) return WaitsOn::store;
    if (owner == rank_) return WaitsOn::other;
    return owner >= 0 || table_->leads_to_gang(socket) ? WaitsOn::peer : WaitsOn::other;
  }
  bool has_both_ends(std::uint64_t inode) override {
    if (!pipes_) {
      pipes_.emplace();
      for (const Descriptor& each : proc_.descriptors(pid_))
        if (each.kind == DescriptorKind::pipe) ++(*pipes_)[each.inode];
    }
    const auto found = pipes_->find(inode);
    return found != pipes_->end() && found->second > 1;
  }

 private:
  const ProcReader& proc_;
  const int pid_, rank_;
  const SocketTable* const table_;
  const SocketOwners& owners_;
  std::map<int, Descriptor> links_;
  std::map<int, std::vector<int>> epolls_;
  std::optional<std::map<std::uint64_t, int>> pipes_;  // how many descriptors each pipe has
};

ThreadLook look_at_thread_of(const ProcReader& proc, int pid, int thread, char state,
                             DescriptorSource& source) {
  if (state == 'R') return look_at_thread(state, std::nullopt, "", this_machine(), source);
  const auto call = proc.blocked_call(pid, thread);
  const bool is_told = call && call->in_call && !is_restart(this_machine(), call->number);
  const std::string channel = is_told ? "" : proc.wait_channel(pid, thread);
  return look_at_thread(state, call, channel, this_machine(), source);
}

// Threads of NCCL, CUDA and torch that run, poll or listen whatever the rank does. NCCL names its
// threads if NCCL_SET_THREAD_NAME is set, which nccl_watch.h does.
bool is_helper(std::string_view name) {
  return name.starts_with("NCCL") || name.starts_with("cuda") || name.starts_with("pt_nccl");
}

// Whether a thread sleeps for a while. The loop of a library does not count: it has a time-out and
// a descriptor to wake it.
bool is_asleep(const ThreadLook& thread) {
  return thread.far.empty() && (thread.has_timeout || thread.on == WaitsOn::timer);
}

void count_thread(const ThreadLook& thread, ThreadCounts* counts) {
  ++counts->all;
  if (thread.state == 'R') ++counts->running;
  if (thread.state == 'D') ++counts->device;
  switch (thread.on) {
    case WaitsOn::nothing: return;
    case WaitsOn::peer:
      if (counts->at_peers++ == 0) counts->at_peer = thread;
      return;
    case WaitsOn::lock:
    case WaitsOn::timer:
    case WaitsOn::signal: ++(is_asleep(thread) ? counts->at_timers : counts->at_locks); return;
    case WaitsOn::listener: ++counts->at_listeners; return;
    case WaitsOn::store: ++counts->at_store; return;
    case WaitsOn::other:
    case WaitsOn::file:
    case WaitsOn::pipe:
    case WaitsOn::terminal:
    case WaitsOn::gpu:
    case WaitsOn::child:
    case WaitsOn::unknown: ++counts->at_others; return;
  }
}

std::int64_t megahertz(const ProcReader& proc, int cpu, const char* file) {
  const auto text = io::read_file(
      fmt::format("{}/sys/devices/system/cpu/cpu{}/cpufreq/{}", proc.root(), cpu, file));
  return text ? std::strtoll(text->c_str(), nullptr, 10) / 1000 : 0;
}

std::vector<ProcessUse> as_uses(const std::vector<ThreadStat>& stats) {
  std::vector<ProcessUse> uses;
  for (const ThreadStat& stat : stats) uses.push_back({stat.pid, stat.parent, 0, 0});
  return uses;
}

}  // namespace

// ---- processes ----------------------------------------------------------------------------------

// The processes of its cgroup. Attached programs are in it, but are not descendants of the rank.
std::vector<ThreadStat> RankReader::members(const Request& rank) const {
  std::vector<ThreadStat> found;
  std::istringstream in(io::read_file(rank.cgroup + "/cgroup.procs").value_or(""));
  for (int pid = 0; found.size() < 2 * kMaxProcessesOfRank && in >> pid;)
    if (const auto stat = pid > 0 ? proc_.stat(pid) : std::nullopt) found.push_back(*stat);
  return found;
}

std::vector<ThreadStat> RankReader::below_spawn() const {
  std::vector<ThreadStat> all = proc_.all();
  const std::vector<int> pids = tree_of(as_uses(all), place_.spawn_pid);
  const std::set<int> tree(pids.begin(), pids.end());
  std::erase_if(all, [&](const ThreadStat& each) { return tree.count(each.pid) == 0; });
  return all;
}

bool RankReader::is_top(const ThreadStat& process, const Request& rank) {
  if (process.parent != place_.spawn_pid) return false;
  const auto key = std::make_pair(process.pid, process.start_ticks);
  const auto known = own_pids_.find(key);
  if (known != own_pids_.end()) return known->second == rank.pid;
  const auto status = proc_.text(process.pid, "status");
  const int own = (status ? parse_own_pid(*status) : std::nullopt).value_or(process.pid);
  own_pids_[key] = own;
  return own == rank.pid;
}

void RankReader::find(const Request& rank, std::vector<ThreadStat>& all) {
  std::vector<ThreadStat> candidates =
      rank.cgroup.empty() ? std::vector<ThreadStat>{} : members(rank);
  const auto top_in = [&](const std::vector<ThreadStat>& stats) {
    return std::find_if(stats.begin(), stats.end(),
                        [&](const ThreadStat& each) { return is_top(each, rank); });
  };
  const auto kept = ranks_.extract(rank.rank);
  const bool has_members = top_in(candidates) != candidates.end();
  if (!has_members && all.empty()) all = below_spawn();
  const std::vector<ThreadStat>& among = has_members ? candidates : all;
  const auto top = top_in(among);
  if (top == among.end()) return;
  Found found;
  if (kept && kept.mapped().top.start_ticks == top->start_ticks) found = kept.mapped();
  found.top = *top;
  found.below.clear();
  const std::vector<int> pids = tree_of(as_uses(among), top->pid);
  const std::set<int> tree(pids.begin(), pids.end());
  for (const ThreadStat& each : among)
    if (tree.count(each.pid) > 0 && found.below.size() + 1 < kMaxProcessesOfRank)
      found.below.push_back(each);
  ranks_[rank.rank] = std::move(found);
}

void RankReader::begin(const Place& place, const std::vector<Request>& ranks) {
  place_ = place;
  std::set<int> wanted;
  for (const Request& rank : ranks) wanted.insert(rank.rank);
  std::erase_if(ranks_, [&](const auto& each) { return wanted.count(each.first) == 0; });
  if (own_pids_.size() > kMaxOwnPids) own_pids_.clear();
  std::vector<ThreadStat> all;  // read once, when the first rank needs it
  if (place.spawn_pid <= 0) return ranks_.clear();
  for (const Request& rank : ranks) find(rank, all);
}

int RankReader::pid_of(int rank) const {
  const auto found = ranks_.find(rank);
  return found == ranks_.end() ? -1 : found->second.top.pid;
}

int RankReader::process_of(int rank, int own_pid) const {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return -1;
  const auto is_it = [&](const ThreadStat& stat) {
    const auto own = own_pids_.find({stat.pid, stat.start_ticks});
    return own != own_pids_.end() && own->second == own_pid;
  };
  if (is_it(found->second.top)) return found->second.top.pid;
  for (const ThreadStat& each : found->second.below)
    if (is_it(each)) return each.pid;
  return -1;
}

int RankReader::working_pid(int rank) const {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return -1;
  const ThreadStat* most = &found->second.top;
  for (const ThreadStat& each : found->second.below)
    if (each.cpu_ticks > most->cpu_ticks) most = &each;
  return most->pid;
}

int RankReader::any_pid() const { return ranks_.empty() ? -1 : ranks_.begin()->second.top.pid; }

void RankReader::find_owners(SocketOwners& owners) const {
  if (place_.pmix_pid > 0)
    for (const Descriptor& each : proc_.descriptors(place_.pmix_pid))
      if (each.kind == DescriptorKind::socket) owners.found(each.inode, SocketOwners::kPmixServer);
  for (const auto& [rank, found] : ranks_) {
    std::size_t links = 0;
    const auto take = [&, rank = rank](int pid) {
      if (links >= kMaxLinksOfRank) return;
      const std::vector<Descriptor> all = proc_.descriptors(pid);
      links += all.size() + 1;
      for (const Descriptor& each : all)
        if (each.kind == DescriptorKind::socket) owners.found(each.inode, rank);
    };
    take(found.top.pid);
    for (const ThreadStat& each : found.below) take(each.pid);
  }
}

// ---- a look -------------------------------------------------------------------------------------

ProcessLook RankReader::look_at(const ThreadStat& stat, DescriptorSource& source) const {
  ProcessLook look;
  look.stat = stat;
  look.main = look_at_thread_of(proc_, stat.pid, stat.pid, stat.state, source);
  const auto key = std::make_pair(stat.pid, stat.start_ticks);
  const auto known = own_pids_.find(key);
  const bool is_held = stat.state == 'T' || stat.state == 't';
  look.own_pid = known == own_pids_.end() ? stat.pid : known->second;
  if (known != own_pids_.end() && !is_held) return look;
  const auto status = proc_.text(stat.pid, "status");
  if (!status) return look;
  look.own_pid = parse_own_pid(*status).value_or(stat.pid);
  look.tracer = parse_tracer(*status);
  own_pids_[key] = look.own_pid;
  return look;
}

// Looks at all threads but the first.
void RankReader::look_at_threads(int pid, DescriptorSource& source, ThreadCounts* counts) const {
  const auto done = std::min(kMaxThreadsOfRank, static_cast<std::size_t>(counts->all));
  for (const int thread : proc_.threads(pid, kMaxThreadsOfRank - done + 1)) {
    if (thread == pid) continue;
    const auto text = proc_.text(pid, fmt::format("task/{}/stat", thread));
    const auto stat = text ? parse_thread_stat(*text) : std::nullopt;
    if (stat && is_helper(stat->name))
      ++counts->all;
    else if (stat)
      count_thread(look_at_thread_of(proc_, pid, thread, stat->state, source), counts);
  }
}

RankLook RankReader::look(int rank, bool closely, const SocketTable* table,
                          const SocketOwners& owners) const {
  RankLook look;
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return look;
  std::vector<ThreadStat> stats{found->second.top};
  stats.insert(stats.end(), found->second.below.begin(), found->second.below.end());
  ThreadCounts counts;
  for (const ThreadStat& stat : stats) {
    ProcessDescriptors source(proc_, stat.pid, rank, table, owners);
    look.processes.push_back(look_at(stat, source));
    if (!closely) continue;
    count_thread(look.processes.back().main, &counts);
    const auto status = proc_.text(stat.pid, "status");
    counts.may_be_freed = counts.may_be_freed || look.processes.back().main.is_shared ||
                          (status && catches_wakeups(*status));
    if (stat.threads > 1) look_at_threads(stat.pid, source, &counts);
  }
  if (closely) {
    look.threads = counts;
    for (ProcessLook& each : look.processes)
      if (each.main.on == WaitsOn::pipe) name_other_end(stats, each);
  }
  const int pid = found->second.top.pid;
  if (const auto text = proc_.text(pid, "io")) look.bytes = parse_call_bytes(*text);
  if (const auto text = proc_.text(pid, "schedstat")) look.queued = parse_queued(*text);
  return look;
}

// Names the process at the other end of a pipe within the rank; if several have that end, none.
void RankReader::name_other_end(const std::vector<ThreadStat>& stats, ProcessLook& look) const {
  if (look.main.inode == 0) return;
  std::optional<int> other;
  std::size_t links = 0;
  for (const ThreadStat& stat : stats) {
    if (stat.pid == look.stat.pid || links >= kMaxLinksOfRank) continue;
    const std::vector<Descriptor> all = proc_.descriptors(stat.pid);
    links += all.size() + 1;
    const bool has_it = std::any_of(all.begin(), all.end(), [&](const Descriptor& each) {
      return each.kind == DescriptorKind::pipe && each.inode == look.main.inode;
    });
    if (!has_it) continue;
    if (other) return;
    const auto own = own_pids_.find({stat.pid, stat.start_ticks});
    other = own == own_pids_.end() ? stat.pid : own->second;
  }
  if (other) look.main.far = fmt::format("a pipe to process {}", *other);
}

// ---- what costs more ----------------------------------------------------------------------------

// "0::/a/b" (v2), "4:cpu,cpuacct:/a/b" (v1). Each level above may have a quota, too.
std::vector<std::string> RankReader::quota_files(int pid) const {
  std::vector<std::string> files;
  std::istringstream lines(proc_.text(pid, "cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_v2 = controllers.empty();
    if (!is_v2 && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    std::string path = line.substr(second + 1);
    if (path.find("..") != std::string::npos) continue;  // the path is outside our cgroup namespace
    while (files.size() < kMaxCgroupLevels && path.size() > 1) {
      const std::string file = fmt::format("{}{}{}{}/cpu.stat", proc_.root(), kCgroupRoot,
                                           is_v2 ? "" : "/" + controllers, path);
      if (io::exists(file)) files.push_back(file);
      path.resize(path.rfind('/') == path.npos ? 0 : path.rfind('/'));
    }
  }
  return files;
}

void RankReader::look_slowly(int rank, RankLook* look) {
  const auto it = ranks_.find(rank);
  if (it == ranks_.end()) return;
  Found& found = it->second;
  if (!std::exchange(found.knows_quota_files, true)) found.quota_files = quota_files(found.top.pid);
  for (const std::string& file : found.quota_files) {
    const auto text = io::read_file(file);
    const auto held = text ? parse_throttled(*text) : std::nullopt;
    if (held) look->throttled = look->throttled.value_or(Duration::zero()) + *held;
  }
  if (found.top.cpu < 0) return;
  look->cpu_mhz = megahertz(proc_, found.top.cpu, "scaling_cur_freq");
  look->cpu_mhz_at_most = megahertz(proc_, found.top.cpu, "cpuinfo_max_freq");
}

}  // namespace lockstep::runner
