#include "agent/supervise/cleanup.h"

#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <vector>

#include "common/io/attempt_cgroups.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"

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
  TRY(io::clean_cgroups(directory.cgroups()));
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
