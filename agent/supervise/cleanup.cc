#include "agent/supervise/cleanup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <vector>

#include "common/io/disk.h"
#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

constexpr int kKillRounds = 400;
constexpr long kRoundNs = 5'000'000;

void pause_briefly() {
  const timespec pause{0, kRoundNs};
  ::nanosleep(&pause, nullptr);
}

// v2 kills the subtree at once; elsewhere each member, again until none is left, since one may fork
// while we read the list.
void kill_members(const std::string& directory) {
  const auto all = io::open_file(directory + "/cgroup.kill", O_WRONLY);
  if (all && io::write_all(all->get(), "1")) return;
  const auto members = io::read_file(directory + "/cgroup.procs");
  if (!members) return;
  std::istringstream pids(*members);
  for (int pid = 0; pids >> pid;) {
    if (pid > 0) ::kill(pid, SIGKILL);
  }
}

Status empty_and_remove(const std::string& directory) {
  for (int round = 0; round < kKillRounds; ++round) {
    if (io::disk::rmdir(directory.c_str()) == 0 || errno == ENOENT) return {};
    if (errno != EBUSY) return errno_error(errno, "remove cgroup " + directory);
    kill_members(directory);
    pause_briefly();
  }
  return make_error(ErrorCode::unavailable, "remove cgroup " + directory +
                                                ": its processes do not die; look for ones in "
                                                "state D (a hanging file system or device)");
}

// Octal escapes of proc_pid_mountinfo(5): \040 is a blank.
std::string unescape(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 3 >= text.size()) {
      plain.push_back(text[i]);
      continue;
    }
    plain.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                      (text[i + 3] - '0')));
    i += 3;
  }
  return plain;
}

std::vector<std::string> mounts_below(const std::string& path) {
  std::vector<std::string> found;
  const auto table = io::read_file("/proc/self/mountinfo");
  if (!table) return found;
  std::istringstream lines(*table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string skip, point;
    fields >> skip >> skip >> skip >> skip >> point;
    point = unescape(point);
    if (point == path || point.compare(0, path.size() + 1, path + "/") == 0) found.push_back(point);
  }
  return found;
}

}  // namespace

Status clean_cgroups(const std::string& record_file) {
  const auto record = io::read_file(record_file);
  if (!record) {
    return record.error().code == ErrorCode::not_found ? Status{} : Status(record.error());
  }
  std::istringstream lines(*record);
  std::vector<std::string> directories;
  for (std::string line; std::getline(lines, line);) {
    // Ours lie below a directory of ours: a damaged file must not make us empty another cgroup.
    if (line.find("/lockstep/") != std::string::npos) directories.push_back(line);
  }
  for (const std::string& directory : directories) kill_members(directory);
  Status status;
  for (const std::string& directory : directories) {
    Status removed = empty_and_remove(directory);
    if (!removed) status = std::move(removed);
  }
  // The empty directory that all attempts share goes with the last of them, as after a runner's own
  // end; while others are in it rmdir refuses.
  for (const std::string& directory : directories) {
    const auto shared = directory.rfind("/lockstep/");
    io::disk::rmdir(directory.substr(0, shared + std::string("/lockstep").size()).c_str());
  }
  return status;
}

Status unmount_below(const std::string& path) {
  const std::vector<std::string> points = mounts_below(path);
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    if (::umount2(point->c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0 && errno != EINVAL) {
      return errno_error(errno, "unmount " + *point);
    }
  }
  return {};
}

Status remove_part(const io::AttemptDir& directory, const std::string& mount_point) {
  TRY(clean_cgroups(directory.cgroups()));
  TRY(unmount_below(directory.path()));
  if (!mount_point.empty()) {
    TRY(unmount_below(mount_point));
    // Only the empty directory: whatever else is there is not ours.
    if (io::disk::rmdir(mount_point.c_str()) != 0 && errno != ENOENT && errno != ENOTEMPTY &&
        errno != EACCES) {
      return errno_error(errno, "remove " + mount_point);
    }
  }
  return io::remove_tree(directory.path());
}

}  // namespace lockstep::agent
