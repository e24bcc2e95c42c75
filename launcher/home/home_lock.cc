#include "launcher/home/home_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <sstream>

#include "common/base/quoted_name.h"
#include "common/io/clock.h"
#include "common/io/process.h"
#include "common/io/version_file.h"
#include "launcher/home/endpoint_file.h"
#include "launcher/home/start_record.h"
#include "launcher/store/least_facts.h"

namespace lockstep::launcher {

namespace {

// Writes into the lock's file who holds it, for others. If it cannot be written (a full disk), the
// launcher starts all the same.
Status sign_lock(const std::string& path) {
  const auto self = io::identify(getpid());
  if (!self) return {};
  TRY_ASSIGN(const io::Fd file, io::open_file(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW));
  return io::write_all(file.get(), io::to_text(*self));
}

// The process named in the lock. If the file names none yet (a full disk, or an earlier version),
// the last daemon of this home.
std::optional<io::ProcessIdentity> holder_of(const LauncherHome& home) {
  const auto text = io::read_file(home.lock(), kibibytes(1));
  if (const auto signer = text ? io::process_identity_from(*text) : std::nullopt) return signer;
  const auto daemon = read_endpoint_file(home.endpoint());
  if (!daemon) return std::nullopt;
  return io::ProcessIdentity{daemon->pid, daemon->start_ticks};
}

// The systemd service of a process; "": none.
std::string service_of(int pid) {
  constexpr std::string_view kEnding = ".service";
  std::istringstream lines(
      io::read_file(fmt::format("/proc/{}/cgroup", pid), kibibytes(64)).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(line.rfind('/') + 1);
    if (name.starts_with("lockstepd") && name.ends_with(kEnding)) return name;
  }
  return "";
}

// How to end a launcher depends on how it was started.
std::string how_to_end(const LauncherHome& home, int pid) {
  const auto record = read_start_record(home.started());
  if (record && record->by_lockstep) return "`lockstep down`";
  if (const std::string service = service_of(pid); !service.empty())
    return "`systemctl stop " + service + "`";
  if (record) return fmt::format("`kill {}`", pid);
  return fmt::format("`lockstep down`, or with `kill {}` if an operator started it", pid);
}

void pause_briefly() {
  const timespec pause{0, 20'000'000};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

Result<io::FileLock> lock_home(const LauncherHome& home, Duration timeout) {
  io::SystemClock clock;
  const Instant end = clock.now() + timeout;
  for (;;) {
    TRY_ASSIGN(auto lock, io::FileLock::try_acquire(home.lock()));
    if (lock) {
      (void)sign_lock(home.lock());
      return std::move(*lock);
    }
    const auto holder = holder_of(home);
    const std::string pid = holder ? std::to_string(holder->pid) : "unknown";
    if (holder && !io::is_ending(*holder))
      return make_error(
          ErrorCode::conflict,
          fmt::format(
              "another lockstepd (pid {}) uses {}; end it with {}, or choose another --home", pid,
              home.path(), how_to_end(home, holder->pid)));
    if (clock.now() >= end)
      return make_error(
          ErrorCode::conflict,
          fmt::format("{} is locked, although the last lockstepd that used it (pid {}) has ended: "
                      "the file system has not released the lock yet, or a lockstepd in another "
                      "container or on another machine holds it; find the process with `fuser {}`, "
                      "or choose another --home",
                      home.path(), pid, home.lock()));
    pause_briefly();
  }
}

std::string sign_of_life(const LauncherHome& home) {
  if (io::exists(home.version())) return home.version();
  if (io::exists(home.blobs())) return home.blobs();
  const auto logs = io::list_directory(home.logs());
  return logs && !logs->empty() ? home.logs() : "";
}

Status expect_home(const LauncherHome& home) {
  if (!io::exists(home.path()))
    return make_error(ErrorCode::not_found,
                      fmt::format("there is no {}; name the home of a launcher with --home (the "
                                  "home of the local launcher is ~/.lockstep/launcher)",
                                  quoted_name(home.path())));
  if (::access(home.path().c_str(), R_OK | X_OK) != 0)
    return make_error(
        ErrorCode::permission_denied,
        fmt::format("you may not read {}; run this command as the account of the launcher",
                    quoted_name(home.path())));
  if (!io::exists(home.journal())) {
    TRY_ASSIGN(const JournalTraces traces, look_for_traces(home.journal()));
    const std::string sign = traces.least ? least_facts_file(home.journal()) : sign_of_life(home);
    if (!sign.empty()) return lost_journal(home.journal(), traces, sign);
    return make_error(ErrorCode::not_found,
                      fmt::format("{} is not the home of a launcher: it has no journal.db; name a "
                                  "launcher's home with --home",
                                  home.path()));
  }
  return io::expect_version(home.version(), kHomeVersion, "launcher's home");
}

}  // namespace lockstep::launcher
