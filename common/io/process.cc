#include "common/io/process.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "common/base/check.h"

namespace lockstep::io {
namespace {

constexpr unsigned long long kExiting = 4;  // PF_EXITING of the kernel's sched.h

// The fields of /proc/PID/stat after the command's name, which may itself hold spaces and brackets.
struct ProcessStat {
  char state = '?';
  std::uint64_t start_ticks = 0;
  bool killed = false;  // the process is exiting, or will be once a system call lets it
};

std::optional<ProcessStat> read_stat(int pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid));
  if (!text) return std::nullopt;
  const auto bracket = text->rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  ProcessStat stat;
  unsigned long long ticks = 0, flags = 0, pending = 0;
  // Fields 3 (state), 9 (flags), 22 (start time) and 31 (pending signals) of proc(5).
  const int found = std::sscanf(text->c_str() + bracket + 1,
                                " %c %*s %*s %*s %*s %*s %llu %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                "%*s %*s %*s %llu %*s %*s %*s %*s %*s %*s %*s %*s %llu",
                                &stat.state, &flags, &ticks, &pending);
  if (found < 3) return std::nullopt;
  stat.start_ticks = ticks;
  stat.killed = (flags & kExiting) != 0 || (pending >> (SIGKILL - 1) & 1) != 0;
  return stat;
}

std::uint64_t inode_of(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0 ? status.st_ino : 0;
}

std::string first_line(const std::string& path) {
  const auto text = read_file(path);
  return text ? text->substr(0, text->find('\n')) : "";
}

User user_from(const passwd& entry) {
  User user;
  user.name = entry.pw_name;
  user.uid = entry.pw_uid;
  user.gid = entry.pw_gid;
  user.home = entry.pw_dir;
  user.shell = entry.pw_shell;
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (::getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
    if (::getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count) < 0) count = 0;
  }
  user.groups.assign(groups.begin(), groups.begin() + count);
  return user;
}

}  // namespace

std::optional<ProcessIdentity> identify(int pid) {
  if (pid <= 0) return std::nullopt;
  const auto stat = read_stat(pid);
  if (!stat) return std::nullopt;
  return ProcessIdentity{pid, stat->start_ticks};
}

bool is_alive(const ProcessIdentity& who) {
  if (who.pid <= 0) return false;
  const auto stat = read_stat(who.pid);
  return stat && stat->start_ticks == who.start_ticks && stat->state != 'Z' && stat->state != 'X';
}

bool is_ending(const ProcessIdentity& who) {
  if (!is_alive(who)) return true;
  const auto stat = read_stat(who.pid);
  return !stat || stat->killed;
}

std::string to_text(const ProcessIdentity& who) {
  return fmt::format("{} {}\n", who.pid, who.start_ticks);
}

std::optional<ProcessIdentity> process_identity_from(const std::string& text) {
  int pid = 0;
  unsigned long long ticks = 0;
  int length = 0;
  if (std::sscanf(text.c_str(), "%d %llu%n", &pid, &ticks, &length) != 2 || pid <= 0) {
    return std::nullopt;
  }
  const std::string rest = text.substr(static_cast<std::size_t>(length));
  if (!rest.empty() && rest != "\n") return std::nullopt;
  return ProcessIdentity{pid, ticks};
}

Result<Fd> open_process(const ProcessIdentity& who) {
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, who.pid, 0)));
  if (!fd && errno != ESRCH) return errno_error(errno, fmt::format("watch process {}", who.pid));
  // The process is checked after the open, because from then on the descriptor cannot mean another
  // process.
  if (!fd || !is_alive(who)) {
    return make_error(ErrorCode::not_found, fmt::format("process {} is gone", who.pid));
  }
  return fd;
}

Status signal_process(const ProcessIdentity& who, int signal) {
  const auto fd = open_process(who);
  if (!fd) return fd.error().code == ErrorCode::not_found ? Status{} : Status(fd.error());
  if (::syscall(SYS_pidfd_send_signal, fd->get(), signal, nullptr, 0) != 0 && errno != ESRCH) {
    return errno_error(errno, fmt::format("send signal {} to process {}", signal, who.pid));
  }
  return {};
}

Result<User> find_user(const std::string& name) {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  int error = 0;
  while ((error = ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found)) ==
         ERANGE) {
    buffer.resize(buffer.size() * 2);
  }
  if (!found && error != 0) return errno_error(error, "look up user " + name);
  if (!found) {
    return make_error(ErrorCode::not_found,
                      "user " + name + " does not exist on " + host_name() + "; create it there");
  }
  return user_from(*found);
}

Result<User> current_user() {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  int error = 0;
  while ((error = ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found)) ==
         ERANGE) {
    buffer.resize(buffer.size() * 2);
  }
  if (found) return user_from(*found);
  if (error != 0) return errno_error(error, "look up the current user");
  // In a container the user's number may be in no passwd file.
  const std::uint32_t uid = ::geteuid(), gid = ::getegid();
  return User{std::to_string(uid), uid, gid, std::string("/"), std::string("/bin/sh"), {gid}};
}

BootId current_boot() {
  // If /proc hides PID 1, the PID namespace identifies the machine.
  const auto init = read_stat(1);
  const std::string start =
      init ? std::to_string(init->start_ticks) : fmt::format("ns{}", inode_of("/proc/self/ns/pid"));
  return BootId(first_line("/proc/sys/kernel/random/boot_id") + ":" + start);
}

std::string current_host_id() {
  // The kernel's boot id instead of the machine id: cloned machines share the machine id, and their
  // first network namespaces have the same inodes.
  std::string host = first_line("/proc/sys/kernel/random/boot_id");
  if (host.empty()) host = first_line("/etc/machine-id");
  if (host.empty()) host = host_name();
  return fmt::format("{}:{}", host, inode_of("/proc/self/ns/net"));
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::string host_name() {
  char buffer[256] = {};
  if (::gethostname(buffer, sizeof buffer - 1) != 0 || buffer[0] == '\0') return "localhost";
  return buffer;
}

std::string program_directory() {
  char buffer[4096];
  const ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
  if (length <= 0) return ".";
  const std::string path(buffer, static_cast<std::size_t>(length));
  return path.substr(0, path.rfind('/'));
}

Result<std::string> find_program(const std::string& name) {
  const std::string here = program_directory();
  const std::string apart = here.substr(0, here.rfind('/')) + "/libexec/lockstep";
  for (const std::string& directory : {here, apart}) {
    const std::string path = directory + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return make_error(
      ErrorCode::not_found,
      fmt::format(
          "there is no executable {} in {} or {}; install all of Lockstep's programs together",
          name, here, apart));
}

std::optional<std::string> bundle_directory() {
  const std::string here = program_directory();
  const std::string top = here.substr(0, here.rfind('/'));
  if (!exists(top + "/lockstep-bundle.json")) return std::nullopt;
  return top;
}

void forbid_core_dumps() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0) return;
  // A limit of 0 counts for files only; with 1 the kernel does not start a program that reads dumps
  // either.
  limit.rlim_cur = std::min<rlim_t>(1, limit.rlim_max);
  ::setrlimit(RLIMIT_CORE, &limit);
}

std::uint64_t random_u64() {
  std::uint64_t value = 0;
  ssize_t got = 0;
  do {
    got = ::getrandom(&value, sizeof value, 0);
  } while (got < 0 && errno == EINTR);
  CHECK(got == sizeof value, "getrandom(2) gave no 8 bytes");
  return value;
}

}  // namespace lockstep::io
