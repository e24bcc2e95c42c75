#include "common/io/cgroups/cgroups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "common/io/cgroups/attempt_cgroups.h"
#include "common/io/cgroups/cgroup_check.h"
#include "common/io/cgroups/cgroup_layout.h"
#include "common/io/cgroups/nursery.h"
#include "common/io/cgroups/pids_of_jobs.h"
#include "common/io/file_system.h"

namespace lockstep::io {
namespace {

constexpr char kParent[] = "/lockstep";
constexpr char kBeside[] = "/lockstep-";
constexpr int kRemoveTries = 400;  // 5 ms apart
constexpr int kOfTheRunner = 64;   // processes and threads of the runner and lockstep-spawn

Status put(const std::string& file, const std::string& value) {
  const Fd fd(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || write(fd.get(), value.data(), value.size()) < 0)
    return errno_error(errno, fmt::format("write {} to {}", value, file));
  return {};
}

std::string get(const std::string& file) { return read_file(file).value_or(""); }

// Enables controllers: memory is required, the others are optional.
Status enable_controllers(const std::string& directory) {
  for (const char* controller : {"+pids", "+cpu"})
    (void)put(directory + "/cgroup.subtree_control", controller);
  return put(directory + "/cgroup.subtree_control", "+memory");
}

// The place of a v1 cgroup. v1's cpu cgroups have no common parent: if two children of one share a
// CPU, Linux 6.18 starves every process outside of the parent while they run.
// docs/decisions/031-limits-of-ranks.md
std::string place_v1(const std::string& base, std::string_view controller,
                     const std::string& name) {
  if (controller == "cpu") return base + kBeside + name;
  return base + kParent + "/" + name;
}

// The parent that we made for the directory; null: it has no such parent.
std::optional<std::string> parent_of(const std::string& directory) {
  const std::string parent = directory.substr(0, directory.rfind('/'));
  if (!parent.ends_with(kParent)) return std::nullopt;
  return parent;
}

// Makes a cgroup and its parent. Another attempt may remove the empty parent between the two calls.
Status make_directory(const std::string& directory, bool v2) {
  const auto parent = parent_of(directory);
  for (int i = 0; i < 100; ++i) {
    if (parent && mkdir(parent->c_str(), 0755) != 0 && errno != EEXIST)
      return errno_error(errno, "make cgroup " + *parent);
    if (parent && v2) {
      const Status enabled = enable_controllers(*parent);
      if (!enabled && exists(*parent)) return enabled;
    }
    // The inventory reports where this cannot be set.
    if (parent) (void)limit_pids_of_jobs(*parent);
    if (mkdir(directory.c_str(), 0755) == 0) return {};
    if (!parent || errno != ENOENT) return errno_error(errno, "make cgroup " + directory);
  }
  return make_error(ErrorCode::unavailable,
                    "make cgroup " + *parent + ": another process keeps removing it");
}

// The value of `key` in a flat keyed file such as memory.events; 0 if the key is missing.
long long keyed(const std::string& file, const std::string& key) {
  std::istringstream in(get(file));
  std::string word;
  long long value = 0;
  while (in >> word >> value)
    if (word == key) return value;
  return 0;
}

// The v2 cgroup below which we may make children with controllers. Our own cgroup holds a process
// (this one), so its parent must be delegated to us; root may also use the top.
std::optional<std::string> v2_base(const CgroupHierarchy& hierarchy) {
  std::vector<std::string> candidates;
  if (hierarchy.own != hierarchy.mount_point)
    candidates.push_back(hierarchy.own.substr(0, hierarchy.own.rfind('/')));
  if (geteuid() == 0) candidates.push_back(hierarchy.mount_point);
  for (const auto& base : candidates) {
    if (get(base + "/cgroup.controllers").find("memory") == std::string::npos) continue;
    if (access((base + "/cgroup.subtree_control").c_str(), W_OK) != 0) continue;
    if (enable_controllers(base)) return base;
  }
  return std::nullopt;
}

// The limit for all ranks together: with a fork bomb in each of them, enough processes must be left
// to kill it.
std::string pids_limit(const CgroupRequest& request) {
  const long long most = std::max(std::atoll(get("/proc/sys/kernel/pid_max").c_str()) / 2, 1024LL);
  return std::to_string(std::min(most, 1LL * request.pids_limit * request.ranks));
}

Status limit_v1(const std::string& directory, const std::string& controller,
                const CgroupRequest& request) {
  if (controller == "memory" && request.memory) {
    const std::string limit = std::to_string(request.memory->count);
    TRY(put(directory + "/memory.limit_in_bytes", limit));
    // The file does not exist without swap accounting.
    (void)put(directory + "/memory.memsw.limit_in_bytes", limit);
  } else if (controller == "cpu") {
    const long long shares = std::clamp(1024LL * request.cpus, 2LL, 262144LL);
    TRY(put(directory + "/cpu.shares", std::to_string(shares)));
  } else if (controller == "pids") {
    TRY(put(directory + "/pids.max", pids_limit(request)));
  }
  return {};
}

Status limit_v2(const std::string& directory, const CgroupRequest& request) {
  if (request.memory) {
    TRY(put(directory + "/memory.max", std::to_string(request.memory->count)));
    (void)put(directory + "/memory.swap.max", "0");  // the file is missing without swap accounting
  }
  (void)put(directory + "/cpu.weight", std::to_string(std::clamp(100 * request.cpus, 1, 10000)));
  (void)put(directory + "/pids.max", pids_limit(request));
  (void)put(directory + "/cgroup.subtree_control", "+pids");
  return put(directory + "/cgroup.subtree_control", "+memory");
}

// Kills every process in `directory`, which exists.
void kill_members(const std::string& directory) {
  std::istringstream in(get(directory + "/cgroup.procs"));
  for (int pid = 0; in >> pid;)
    if (pid > 0) kill(pid, SIGKILL);
}

}  // namespace

long long oom_kills(const std::string& directory, int version) {
  return keyed(directory + (version == 2 ? "/memory.events" : "/memory.oom_control"), "oom_kill");
}

long long refused_forks(const std::string& directory) {
  return keyed(directory + "/pids.events", "max");
}

Result<Cgroups> Cgroups::find(const CgroupRequest& request) {
  const auto hierarchies =
      find_cgroup_hierarchies(get("/proc/self/mountinfo"), get("/proc/self/cgroup"));
  Cgroups cgroups;
  cgroups.request_ = request;
  cgroups.ranks_ = request.ranks;
  cgroups.limited_ = request.memory.has_value();
  std::map<std::string, std::vector<std::string>> v1;  // mount points by controller
  for (const auto& hierarchy : hierarchies) {
    if (hierarchy.version == 2) {
      if (const auto base = v2_base(hierarchy)) {
        cgroups.version_ = 2;
        cgroups.directories_ = {*base + kParent + "/" + request.name};
      }
      continue;
    }
    for (const std::string& controller : hierarchy.controllers)
      v1[controller].push_back(outside_nursery(hierarchy.own));
  }
  if (cgroups.version_ == 2) return cgroups;
  // Memory comes first: see directories_.
  for (const char* controller : {"memory", "cpu", "pids"}) {
    if (v1[controller].empty() && std::string_view(controller) != "memory") continue;
    const std::string base = usable_v1(v1[controller], controller);
    if (base.empty())
      return make_error(
          ErrorCode::unsupported,
          fmt::format("no cgroup hierarchy with the {} controller is writable", controller));
    if (v1[controller].size() > 1) cgroups.is_ambiguous_ = true;
    cgroups.directories_.push_back(place_v1(base, controller, request.name));
    cgroups.controllers_.emplace_back(controller);
  }
  cgroups.limit_nursery();
  return cgroups;
}

// Limits the nursery. A limit that a person chose must hold from the first page or fork on. The
// default limit protects the node, so until ranks join their cgroups, all of them may share it in
// the nursery.
void Cgroups::limit_nursery() {
  const bool is_default = !limited_ && request_.pids_limit == kDefaultPidsLimit;
  const long long limit = std::atoll(pids_limit(request_).c_str()) + kOfTheRunner;
  begins_in_nursery_ = !request_.nursery.empty() && is_default && pids_hierarchy() &&
                       put(request_.nursery + "/pids.max", std::to_string(limit));
}

Result<Cgroups> Cgroups::create(const CgroupRequest& request) {
  TRY_ASSIGN(Cgroups cgroups, find(request));
  if (!cgroups.begins_in_nursery_) TRY(cgroups.make());
  return cgroups;
}

Status Cgroups::make() {
  if (std::exchange(made_, true)) return {};
  Status made = make_directories();
  if (made) made = set_limits();
  if (made && limited_) made = check_memory_limit(directories_[0], version_, *request_.memory);
  if (made && limited_ && (is_ambiguous_ || request_.is_trial))
    made = check_member(first_files(0), memory_directory(0));
  if (!made) (void)remove();
  return made;
}

Status Cgroups::make_directories() {
  std::string record;
  for (const auto& directory : deepest_first()) record += directory + "\n";
  if (!request_.nursery.empty()) record += request_.nursery + "\n";
  if (!request_.is_trial) TRY(write_file_atomically(request_.record, record, 0644, false));
  Status status;
  for (const auto& directory : directories_)
    if (status) status = make_directory(directory, version_ == 2);
  if (status && version_ == 2) status = limit_v2(directories_[0], request_);
  for (std::size_t at = 0; at < directories_.size(); ++at)
    for (int i = 0; status && has_ranks(at) && i < ranks_; ++i)
      if (mkdir(rank_directory(at, i).c_str(), 0755) != 0)
        status = errno_error(errno, "make cgroup " + rank_directory(at, i));
  return status;
}

Status Cgroups::set_limits() {
  if (version_ != 2)
    for (std::size_t i = 0; i < directories_.size(); ++i)
      TRY(limit_v1(directories_[i], controllers_[i], request_));
  const auto pids = pids_hierarchy();
  for (int i = 0; pids && i < ranks_; ++i) {
    const Status limited =
        put(rank_directory(*pids, i) + "/pids.max", std::to_string(request_.pids_limit));
    if (!limited && version_ != 2) return limited;  // v2: the controller may not be delegated to us
  }
  return {};
}

bool Cgroups::has_ranks(std::size_t hierarchy) const {
  return hierarchy == 0 || controllers_[hierarchy] == "pids";
}

std::optional<std::size_t> Cgroups::pids_hierarchy() const {
  if (version_ == 2) return 0;
  const auto found = std::find(controllers_.begin(), controllers_.end(), "pids");
  if (found == controllers_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - controllers_.begin());
}

bool Cgroups::limits_pids() const {
  if (begins_in_nursery_) return true;
  const auto pids = pids_hierarchy();
  return pids && ranks_ > 0 && exists(rank_directory(*pids, 0) + "/pids.max");
}

std::string Cgroups::rank_directory(std::size_t hierarchy, int local_rank) const {
  return directories_[hierarchy] + "/rank_" + std::to_string(local_rank);
}

std::vector<std::string> Cgroups::deepest_first() const {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < directories_.size(); ++at)
    for (int i = 0; has_ranks(at) && i < ranks_; ++i) result.push_back(rank_directory(at, i));
  result.insert(result.end(), directories_.begin(), directories_.end());
  return result;
}

std::vector<std::string> Cgroups::procs_files(int local_rank) const {
  std::vector<std::string> files;
  for (std::size_t at = 0; at < directories_.size(); ++at)
    files.push_back((has_ranks(at) ? rank_directory(at, local_rank) : directories_[at]) +
                    "/cgroup.procs");
  return files;
}

std::vector<std::string> Cgroups::shared_procs_files() const {
  std::vector<std::string> files;
  for (const std::string& directory : directories_) files.push_back(directory + "/cgroup.procs");
  return files;
}

std::vector<std::string> Cgroups::first_files(int local_rank) const {
  if (limited_) return procs_files(local_rank);
  if (begins_in_nursery_) return {};
  const auto pids = pids_hierarchy();
  if (!pids) return {};
  return {rank_directory(*pids, local_rank) + "/cgroup.procs"};
}

long long Cgroups::refused_forks(int local_rank) const {
  const auto pids = pids_hierarchy();
  long long refused = pids && made_ ? io::refused_forks(rank_directory(*pids, local_rank)) : 0;
  // Rank 0 counts the forks that the kernel ascribes to no rank: those in the nursery, and those of
  // orphans from it.
  if (begins_in_nursery_ && local_rank == 0) {
    refused += io::refused_forks(request_.nursery);
    if (pids && made_) refused += io::refused_forks(directories_[*pids]);
  }
  return refused;
}

PidsOfJobs Cgroups::pids_of_jobs() const {
  const auto pids = pids_hierarchy();
  const bool is_there = pids && !directories_.empty();
  const auto parent = is_there ? parent_of(directories_[*pids]) : std::nullopt;
  return parent ? look_at_pids_of_jobs(*parent) : PidsOfJobs();
}

long long Cgroups::killed_for_memory(int local_rank) const {
  return oom_kills(rank_directory(0, local_rank), version_);
}

bool Cgroups::limits_memory_of(int pid, int local_rank) const {
  return is_in_cgroup(pid, version_ == 2 ? "" : "memory", rank_directory(0, local_rank));
}

void Cgroups::kill_all() const {
  if (version_ == 2 && put(directories_[0] + "/cgroup.kill", "1")) return;
  for (const auto& directory : deepest_first()) kill_members(directory);
}

// Removes the cgroups. A process that has just died may keep its cgroup busy for a moment.
Status Cgroups::remove() {
  Status status;
  if (!made_) return status;
  for (const auto& directory : deepest_first()) {
    int tries = 0;
    while (rmdir(directory.c_str()) != 0 && errno != ENOENT) {
      if (errno != EBUSY || ++tries >= kRemoveTries) {
        status = errno_error(errno, "remove cgroup " + directory);
        break;
      }
      poll(nullptr, 0, 5);
    }
  }
  for (const auto& directory : directories_)  // shared ones are removed with the last attempt
    if (const auto parent = parent_of(directory)) rmdir(parent->c_str());
  directories_.clear();
  ranks_ = 0;
  return status;
}

}  // namespace lockstep::io
