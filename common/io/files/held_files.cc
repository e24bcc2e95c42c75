#include "common/io/files/held_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/files/mount_table.h"

namespace lockstep::io {
namespace {

constexpr std::uint64_t kBlock = 512;  // unit of stx_blocks on every file system
constexpr std::uint64_t kLookAtClock = 256;
constexpr Bytes kMostFacts = kibibytes(64);
// The end of a removed file's path, see proc_pid_fd(5).
constexpr std::string_view kDeleted = " (deleted)";
constexpr std::string_view kUpper = "upperdir=";

std::string link_text(int folder, const char* name) {
  char text[4096];
  const ssize_t length = ::readlinkat(folder, name, text, sizeof text);
  return length < 0 ? "" : std::string(text, static_cast<std::size_t>(length));
}

// Whether a file may have no name: the kernel cannot give a path that is too long, so such a file
// may be removed.
bool may_have_no_name(int folder, const char* name) {
  char text[4096];
  const ssize_t length = ::readlinkat(folder, name, text, sizeof text);
  if (length < 0) return errno == ENAMETOOLONG;
  const std::string_view path(text, static_cast<std::size_t>(length));
  return path.starts_with('/') && path.ends_with(kDeleted);
}

std::string upper_of(const Mount& mount) {
  if (mount.type != "overlay") return "";
  const auto at = mount.options.find(kUpper);
  if (at == std::string::npos) return "";
  const auto from = at + kUpper.size();
  return unescape_mount(mount.options.substr(from, mount.options.find(',', from) - from));
}

class Held {
 public:
  Held(const std::string& folder, Duration most) : folder_(folder), until_(clock_.now() + most) {
    const Fd top(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat info {};
    if (!top || ::fstat(top.get(), &info) != 0) return;
    device_ = info.st_dev;
    const auto mount =
        mount_id_in(read_file(fmt::format("/proc/self/fdinfo/{}", top.get())).value_or(""));
    for (const Mount& each : mounts_in(read_file("/proc/self/mountinfo").value_or("")))
      if (mount == each.id) system_ = each.device;
  }

  void look_at(int pid) {
    const std::string process = fmt::format("/proc/{}", pid);
    const std::unique_ptr<DIR, int (*)(DIR*)> files(::opendir((process + "/fd").c_str()),
                                                    ::closedir);
    if (!files) {
      if (errno != ENOENT && errno != ESRCH) found_.is_whole = false;
      return;
    }
    const int fds = ::dirfd(files.get());
    while (const dirent* entry = ::readdir(files.get())) {
      if (is_over()) return;
      if (entry->d_name[0] == '.' || !may_have_no_name(fds, entry->d_name)) continue;
      const auto facts = read_file(process + "/fdinfo/" + entry->d_name, kMostFacts);
      const auto mount = facts ? mount_id_in(*facts) : std::nullopt;
      const auto measured = mount ? is_measured(process, *mount) : std::nullopt;
      if (measured.value_or(true)) count(fds, entry->d_name, measured.has_value());
    }
  }

  bool is_over() {
    if (looked_at_++ % kLookAtClock == 0 && clock_.now() >= until_) is_over_ = true;
    if (is_over_) found_.is_whole = false;
    return is_over_;
  }
  const HeldFiles& found() const { return found_; }

 private:
  // Whether a mount is measured. nullopt: the process has no such mount. It got the file from
  // another process, or has unmounted it.
  std::optional<bool> is_measured(const std::string& process, std::uint64_t mount) {
    const std::string space = link_text(AT_FDCWD, (process + "/ns/mnt").c_str());
    const auto [at, is_new] = mounts_.try_emplace(space);
    if (is_new)
      for (const Mount& each : mounts_in(read_file(process + "/mountinfo").value_or("")))
        at->second[each.id] = each.device == system_ || upper_of(each).starts_with(folder_ + "/");
    const auto known = at->second.find(mount);
    if (known == at->second.end()) return std::nullopt;
    return known->second;
  }

  void count(int fds, const char* name, bool is_measured) {
    struct statx info {};
    constexpr int kNow = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
    constexpr unsigned kWanted = STATX_TYPE | STATX_NLINK | STATX_INO | STATX_BLOCKS;
    if (::statx(fds, name, kNow, kWanted, &info) != 0) return;
    const dev_t device = ::makedev(info.stx_dev_major, info.stx_dev_minor);
    if (!is_measured && device != device_) return;
    if (!S_ISREG(info.stx_mode) || info.stx_nlink != 0) return;
    if (counted_.emplace(device, info.stx_ino).second)
      found_.bytes.count += info.stx_blocks * kBlock;
  }

  SystemClock clock_;
  const std::string& folder_;
  const Instant until_;
  dev_t device_ = 0;
  std::string system_ = "unknown";                               // Mount::device
  std::map<std::string, std::map<std::uint64_t, bool>> mounts_;  // mounts by mount namespace
  std::set<std::pair<dev_t, std::uint64_t>> counted_;
  std::uint64_t looked_at_ = 0;
  bool is_over_ = false;
  HeldFiles found_;
};

}  // namespace

HeldFiles measure_held(const std::string& folder, const std::set<int>& pids, Duration most) {
  Held held(folder, most);
  for (const int pid : pids) {
    if (held.is_over()) break;
    held.look_at(pid);
  }
  return held.found();
}

}  // namespace lockstep::io
