#include "common/io/cgroups/attempt_cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <sstream>
#include <string_view>

#include "common/io/cgroups/nursery.h"
#include "common/io/disk.h"
#include "common/io/file_error.h"
#include "common/io/file_system.h"

namespace lockstep::io {
namespace {

constexpr std::size_t kLongestAttempt = 200;  // a directory's name has 255 bytes at most
constexpr std::string_view kParent = "lockstep";
// Begins the name of an attempt's cgroup that lies beside others instead of in kParent.
constexpr std::string_view kBeside = "lockstep-";
constexpr Bytes kLongestRecord = mebibytes(16);
constexpr int kKillRounds = 400;
constexpr long kRoundNs = 5'000'000;

void pause_briefly() {
  const timespec pause{0, kRoundNs};
  ::nanosleep(&pause, nullptr);
}

bool is_of_cgroups(const struct statfs& system) {
  const auto type = static_cast<unsigned long>(system.f_type);
  return type == CGROUP_SUPER_MAGIC || type == CGROUP2_SUPER_MAGIC;
}

// If the directory is gone, the nearest one above it is checked.
bool is_cgroup_path(std::string path) {
  if (!path.starts_with("/") || (path + "/").find("/../") != path.npos) return false;
  struct statfs system {};
  int failed = ::statfs(path.c_str(), &system);
  while (failed != 0 && errno == ENOENT && path.rfind('/') > 0) {
    path.resize(path.rfind('/'));
    failed = ::statfs(path.c_str(), &system);
  }
  return failed == 0 && is_of_cgroups(system);
}

// v2 kills the whole subtree at once. Elsewhere each member is killed, repeatedly, since one may
// fork while the list is read.
void kill_members(const std::string& directory) {
  const Fd group(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct statfs system {};
  if (!group || ::fstatfs(group.get(), &system) != 0 || !is_of_cgroups(system)) return;
  const Fd all(::openat(group.get(), "cgroup.kill", O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (all && write_all(all.get(), "1")) return;
  const auto members = read_file(fmt::format("/proc/self/fd/{}/cgroup.procs", group.get()));
  if (!members) return;
  std::istringstream pids(*members);
  for (int pid = 0; pids >> pid;) {
    if (pid > 0) ::kill(pid, SIGKILL);
  }
}

Status empty_and_remove(const std::string& directory) {
  for (int round = 0; round < kKillRounds; ++round) {
    if (disk::rmdir(directory.c_str()) == 0 || errno == ENOENT) return {};
    if (errno != EBUSY) return errno_error(errno, "remove cgroup " + directory);
    kill_members(directory);
    pause_briefly();
  }
  return make_error(ErrorCode::unavailable, "remove cgroup " + directory +
                                                ": its processes do not end; look for processes in "
                                                "state D (a hanging file system or device)");
}

Status clean(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) kill_members(directory);
  Status status;
  for (const std::string& directory : directories) {
    Status removed = empty_and_remove(directory);
    if (!removed) status = std::move(removed);
  }
  // The directory that all attempts share is removed with the last attempt, as it is when a runner
  // ends by itself. A killed runner leaves its nursery in it.
  for (const std::string& directory : directories) {
    const auto shared = directory.rfind("/lockstep/");
    if (shared == directory.npos) continue;
    remove_empty_nurseries_in(directory.substr(0, shared + std::string("/lockstep").size()));
  }
  return status;
}

std::vector<std::string> cgroup_mounts() {
  std::vector<std::string> found;
  const auto table = read_file("/proc/self/mountinfo");
  std::istringstream lines(table ? *table : "");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string skip, point, type;
    fields >> skip >> skip >> skip >> skip >> point;
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream(line.substr(dash + 3)) >> type;
    if (type == "cgroup" || type == "cgroup2") found.push_back(point);
  }
  return found;
}

std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return found;
  while (const dirent* entry = ::readdir(directory.get()))
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') found.push_back(entry->d_name);
  return found;
}

// Children before parents, in the order of removal.
void add_tree(const std::string& path, std::vector<std::string>& found) {
  for (const std::string& name : folders_in(path)) add_tree(path + "/" + name, found);
  found.push_back(path);
}

void find_below(const std::string& path, bool is_parent, const CgroupName& wanted,
                std::vector<std::string>& found) {
  for (const std::string& name : folders_in(path)) {
    const std::string below = path + "/" + name;
    std::string_view own = name;
    const bool is_beside = own.starts_with(kBeside);
    if (is_beside) own.remove_prefix(kBeside.size());
    if ((is_parent || is_beside) && own.starts_with(wanted.lead) && own.ends_with(wanted.tail))
      add_tree(below, found);
    else
      find_below(below, name == kParent, wanted, found);
  }
}

// Processes that a record names are killed, so the record must be one that this account wrote.
Result<std::string> read_record(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  const int failed = fd ? 0 : errno;
  struct stat file {};
  if ((fd ? ::fstat(fd.get(), &file) : ::lstat(path.c_str(), &file)) != 0)
    return file_error(fd ? errno : failed, "read", path);
  if (!S_ISREG(file.st_mode) || (file.st_uid != 0 && file.st_uid != ::geteuid()))
    return make_error(
        ErrorCode::unsupported,
        fmt::format("read {}: this list of cgroups to empty must be a regular file of this "
                    "account's; it is something else, or of uid {}; remove it",
                    path, file.st_uid));
  if (!fd) return file_error(failed, "read", path);
  return read_file(fmt::format("/proc/self/fd/{}", fd.get()), kLongestRecord);
}

Result<std::vector<std::string>> recorded(const std::string& record_file) {
  std::vector<std::string> directories;
  const auto record = read_record(record_file);
  if (!record) {
    if (record.error().code == ErrorCode::not_found) return directories;
    return record.error();
  }
  std::istringstream lines(*record);
  for (std::string line; std::getline(lines, line);) {
    // Our cgroups are known by their path: a damaged file must not make us empty another one.
    const std::string name = line.substr(line.rfind('/') + 1);
    if (line.find("/lockstep/") == line.npos && !name.starts_with(kBeside)) continue;
    if (is_cgroup_path(line)) directories.push_back(line);
  }
  return directories;
}

}  // namespace

CgroupName cgroup_name(const std::string& attempt, int runner_pid) {
  return {attempt.substr(0, kLongestAttempt) + ".n", "." + std::to_string(runner_pid)};
}

Status clean_cgroups(const std::string& record_file) {
  TRY_ASSIGN(const std::vector<std::string> directories, recorded(record_file));
  return clean(directories);
}

bool any_cgroup(const std::string& record_file) {
  const auto directories = recorded(record_file);
  return directories && std::any_of(directories->begin(), directories->end(), exists);
}

std::vector<std::string> cgroups_of(const std::string& attempt, int runner_pid) {
  std::vector<std::string> directories;
  const CgroupName wanted = cgroup_name(attempt, runner_pid);
  for (const std::string& mount : cgroup_mounts()) find_below(mount, false, wanted, directories);
  return directories;
}

Status clean_cgroups_of(const std::string& attempt, int runner_pid) {
  return clean(cgroups_of(attempt, runner_pid));
}

}  // namespace lockstep::io
