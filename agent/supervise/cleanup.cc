#include "agent/supervise/cleanup.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/io/attempt/short_path.h"
#include "common/io/attempt/working_place.h"
#include "common/io/beneath.h"
#include "common/io/cgroups/attempt_cgroups.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/files/mount_table.h"

namespace lockstep::agent {
namespace {

std::vector<io::Mount> mounts_below(const std::string& path) {
  std::vector<io::Mount> found;
  for (io::Mount& mount : io::mounts_in(io::read_file("/proc/self/mountinfo").value_or("")))
    if (mount.point == path || mount.point.starts_with(path + "/"))
      found.push_back(std::move(mount));
  return found;
}

// The mount of a descriptor. Its file system is not asked: it may be a user's (FUSE), and never
// answer.
std::optional<std::uint64_t> mount_of(const io::Fd& fd) {
  return io::mount_id_in(
      io::read_file("/proc/self/fdinfo/" + std::to_string(fd.get())).value_or(""));
}

// Unmounts a path. A user may have put a symlink into it since the table was read, so it is opened
// without following any, and must be the mount that the table names.
Status unmount(const io::Mount& mount, const std::string& path) {
  const auto slash = path.rfind('/');
  const io::Fd above(
      io::disk::open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!above) return errno == ENOENT ? Status() : Status(errno_error(errno, "open " + path));
  const io::Fd point =
      io::open_beneath(above.get(), mount.point.substr(slash + 1), O_PATH | O_NOFOLLOW);
  if (!point) return errno_error(errno, "unmount " + mount.point);
  if (mount_of(point) != mount.id)
    return make_error(ErrorCode::conflict,
                      "unmount " + mount.point + ": another file system is mounted there now");
  const std::string opened = "/proc/self/fd/" + std::to_string(point.get());
  if (::umount2(opened.c_str(), MNT_DETACH) != 0 && errno != EINVAL)
    return errno_error(errno, "unmount " + mount.point);
  return {};
}

}  // namespace

Status unmount_below(const std::string& path) {
  const std::vector<io::Mount> mounts = mounts_below(path);
  Status failed;
  for (auto mount = mounts.rbegin(); mount != mounts.rend(); ++mount) {
    const Status done = unmount(*mount, path);
    if (!done && failed) failed = done;
  }
  // Unmounting a mount also detaches the mounts in it.
  return failed || mounts_below(path).empty() ? Status() : failed;
}

Status release_part(const io::AttemptDir& directory, const std::string& mount_point) {
  TRY(io::clean_cgroups(directory.cgroups()));
  TRY(unmount_below(directory.path()));
  TRY(io::bring_back(directory));
  io::unlink_short_path(directory);
  if (!mount_point.empty()) {
    TRY(unmount_below(mount_point));
    // Only an empty directory is removed: files in it are not the agent's.
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
