#include "agent/supervise/cleanup.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <vector>

#include "common/io/attempt_cgroups.h"
#include "common/io/beneath.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/short_path.h"
#include "common/io/working_place.h"

namespace lockstep::agent {
namespace {

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

struct MountPoint {
  std::uint64_t id = 0;
  std::string path;
};

std::vector<MountPoint> mounts_below(const std::string& path) {
  std::vector<MountPoint> found;
  const auto table = io::read_file("/proc/self/mountinfo");
  if (!table) return found;
  std::istringstream lines(*table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    MountPoint mount;
    std::string skip, point;
    fields >> mount.id >> skip >> skip >> skip >> point;
    mount.path = unescape(point);
    if (mount.path == path || mount.path.starts_with(path + "/")) found.push_back(mount);
  }
  return found;
}

// Without a word to its file system, which may be a user's and never answer.
std::optional<std::uint64_t> mount_of(const io::Fd& fd) {
  const auto facts = io::read_file("/proc/self/fdinfo/" + std::to_string(fd.get()));
  const std::string lead = "mnt_id:";
  const auto at = facts ? facts->find(lead) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(facts->c_str() + at + lead.size(), nullptr, 10);
}

// A user may have put a symlink into the path since the table was read: it is opened through none,
// and must be the mount that the table names.
Status unmount(const MountPoint& mount, const std::string& path) {
  const auto slash = path.rfind('/');
  const io::Fd above(
      io::disk::open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!above) return errno == ENOENT ? Status() : Status(errno_error(errno, "open " + path));
  const io::Fd point =
      io::open_beneath(above.get(), mount.path.substr(slash + 1), O_PATH | O_NOFOLLOW);
  if (!point) return errno_error(errno, "unmount " + mount.path);
  if (mount_of(point) != mount.id)
    return make_error(ErrorCode::conflict,
                      "unmount " + mount.path + ": another file system is mounted there now");
  const std::string opened = "/proc/self/fd/" + std::to_string(point.get());
  if (::umount2(opened.c_str(), MNT_DETACH) != 0 && errno != EINVAL)
    return errno_error(errno, "unmount " + mount.path);
  return {};
}

}  // namespace

Status unmount_below(const std::string& path) {
  const std::vector<MountPoint> mounts = mounts_below(path);
  Status failed;
  for (auto mount = mounts.rbegin(); mount != mounts.rend(); ++mount) {
    const Status done = unmount(*mount, path);
    if (!done && failed) failed = done;
  }
  // A mount takes with it what is mounted in it.
  return failed || mounts_below(path).empty() ? Status() : failed;
}

Status release_part(const io::AttemptDir& directory, const std::string& mount_point) {
  TRY(io::clean_cgroups(directory.cgroups()));
  TRY(unmount_below(directory.path()));
  TRY(io::bring_back(directory));
  io::unlink_short_path(directory);
  if (!mount_point.empty()) {
    TRY(unmount_below(mount_point));
    // Only the empty directory: whatever else is there is not ours.
    if (io::disk::rmdir(mount_point.c_str()) != 0 && errno != ENOENT && errno != ENOTEMPTY &&
        errno != EACCES) {
      return errno_error(errno, "remove " + mount_point);
    }
  }
  return {};
}

Status remove_part(const io::AttemptDir& directory, const std::string& mount_point) {
  TRY(release_part(directory, mount_point));
  return io::remove_tree(directory.path());
}

}  // namespace lockstep::agent
