#include "common/io/attempt/runners.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>

#include "common/io/attempt/attempt_dir.h"
#include "common/io/cgroups/attempt_cgroups.h"
#include "common/io/cgroups/nursery.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/programs/process_table.h"

namespace lockstep::io {
namespace {

constexpr char kProgram[] = "lockstep-runner";
constexpr char kFlag[] = "--attempt-dir";
// The end of /proc/PID/exe of a removed file, see proc(5).
constexpr std::string_view kDeleted = " (deleted)";
constexpr std::size_t kMostLevels = 3;
constexpr int kWaitRounds = 1000;
constexpr long kRoundNs = 5'000'000;

// Whether all ids of a process are ours. Any account can give its process the name and command line
// of a runner, and start a setuid program that way.
bool has_only_our_user(int pid) {
  const auto status = read_file(fmt::format("/proc/{}/status", pid), kibibytes(64));
  const auto line = status ? status->find("\nUid:") : std::string::npos;
  unsigned real = 0, effective = 0, saved = 0;
  if (line == std::string::npos ||
      std::sscanf(status->c_str() + line, "\nUid: %u %u %u", &real, &effective, &saved) != 3)
    return false;
  const unsigned ours = ::geteuid();
  return real == ours && effective == ours && saved == ours;
}

// Whether a process runs the runner's program; an upgrade may have removed the file since it
// started.
bool runs_a_runner(int pid) {
  char target[4096];
  const std::string link = fmt::format("/proc/{}/exe", pid);
  const ssize_t length = ::readlink(link.c_str(), target, sizeof target);
  if (length <= 0) return false;
  std::string_view name(target, static_cast<std::size_t>(length));
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return name.substr(name.rfind('/') + 1) == kProgram;
}

// Whether a path is ATTEMPT, or [NODE/]attempts/ATTEMPT, as in the home of `lockstep up`.
bool is_an_attempt(std::string_view path) {
  std::vector<std::string> levels;
  for (std::size_t at = 0; at != std::string_view::npos && levels.size() <= kMostLevels;) {
    const auto slash = path.find('/', at);
    levels.emplace_back(path.substr(at, slash - at));
    at = slash == std::string_view::npos ? slash : slash + 1;
  }
  if (levels.size() > kMostLevels || !AttemptDir::attempt_of(levels.back())) return false;
  if (levels.size() == 1) return true;
  const std::string& node = levels.front();
  return levels[levels.size() - 2] == "attempts" && !node.empty() && node != "." && node != "..";
}

// The attempt directory in a runner's command line; nullopt: the process is not a runner.
std::optional<std::string> directory_of(int pid) {
  if (!has_only_our_user(pid) || !runs_a_runner(pid)) return std::nullopt;
  const auto line = read_file(fmt::format("/proc/{}/cmdline", pid), mebibytes(4));
  const std::string lead = std::string(kProgram) + '\0' + kFlag + '\0';
  if (!line || !line->starts_with(lead)) return std::nullopt;
  return line->substr(lead.size(), line->find('\0', lead.size()) - lead.size());
}

// Whether the process sees the same folder; for a removed folder, the nearest one above it.
bool sees_the_same(int pid, std::string folder) {
  while (!folder.empty() && !exists(folder)) folder.resize(folder.rfind('/'));
  struct stat ours {
  }, its{};
  return ::stat(folder.c_str(), &ours) == 0 &&
         ::stat(fmt::format("/proc/{}/root{}", pid, folder).c_str(), &its) == 0 &&
         ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

bool wait_until_gone(const std::vector<ProcessIdentity>& who) {
  for (int round = 0; round < kWaitRounds; ++round) {
    if (std::none_of(who.begin(), who.end(), is_alive)) return true;
    const timespec pause{0, kRoundNs};
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

std::string name_of(const Runner& runner) {
  return runner.directory.substr(runner.directory.rfind('/') + 1);
}

// Writes the record of a runner whose attempt directory was removed, or made again without the
// record. True if the record is there now and was not before.
bool write_record(const Runner& runner) {
  const std::string record = AttemptDir(runner.directory).cgroups();
  if (exists(record)) return false;
  std::string lines;
  for (const std::string& path : cgroups_of(name_of(runner), runner.process.pid))
    lines += path + "\n";
  if (const std::string nursery = nursery_of(runner.process.pid); !nursery.empty())
    lines += nursery + "\n";
  return !lines.empty() && make_directories(runner.directory, 0711) &&
         write_file_atomically(record, lines, 0600, false);
}

void remove_record(const Runner& runner) {
  disk::unlink(AttemptDir(runner.directory).cgroups().c_str());
  disk::rmdir(runner.directory.c_str());  // fails if somebody added files
}

// Removes the mount point of a runner without a directory; for other runners the agent removes it
// with the attempt's directory.
void remove_mount_point(const Runner& runner) {
  const auto attempt = AttemptDir::attempt_of(name_of(runner));
  if (!attempt || exists(runner.directory)) return;
  const std::string path = former_mount_point(*attempt);
  if (!path.empty()) disk::rmdir(path.c_str());
}

}  // namespace

std::vector<Runner> runners_below(const std::string& folder) {
  std::vector<Runner> found;
  const std::string lead = folder + "/";
  for (const int pid : all_pids()) {
    // The process is identified first, so that everything read below belongs to it.
    const auto identity = identify(pid);
    const auto directory = identity ? directory_of(pid) : std::nullopt;
    if (!directory || !directory->starts_with(lead)) continue;
    if (!is_an_attempt(std::string_view(*directory).substr(lead.size()))) continue;
    if (sees_the_same(pid, folder) && is_alive(*identity)) found.push_back({*identity, *directory});
  }
  return found;
}

Status remove_cgroups(const Runner& runner) {
  const std::string record = AttemptDir(runner.directory).cgroups();
  if (exists(record) || runner.process.pid <= 0) return clean_cgroups(record);
  return clean_cgroups_of(name_of(runner), runner.process.pid);
}

// Ends a runner. lockstep-spawn kills the ranks when the runner ends, and finds them best; the rest
// is killed one by one. This process may be ended at any moment, as `down` ends an agent. So before
// the runner is killed, the data to find its cgroups must be on disk, and its mount point must be
// gone.
Status end_runner(const Runner& runner) {
  remove_mount_point(runner);
  const bool is_record_ours = write_record(runner);
  std::vector<ProcessIdentity> all = descendants_of(runner.process.pid);
  all.push_back(runner.process);
  TRY(signal_process(runner.process, SIGKILL));
  if (!wait_until_gone(all))
    for (const ProcessIdentity& process : all) TRY(signal_process(process, SIGKILL));
  TRY(remove_cgroups(runner));
  if (is_record_ours) remove_record(runner);
  remove_mount_point(runner);  // older kernels refuse this while the runner has it mounted
  if (wait_until_gone(all)) return {};
  return make_error(ErrorCode::unavailable,
                    fmt::format("the runner of {1} (pid {0}), or a process that it started, does "
                                "not end even after SIGKILL; look for processes in state D",
                                runner.process.pid, runner.directory));
}

}  // namespace lockstep::io
