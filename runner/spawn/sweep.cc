#include "runner/spawn/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace lockstep::spawn {
namespace {

struct Entry {
  int pid = 0;
  int parent = 0;
  int group = 0;
  int foreground = -1;                 // foreground process group of its terminal
  bool has_executed = true;            // false: a forked copy of its parent
  unsigned long long start_ticks = 0;  // in ticks since the boot
};

constexpr unsigned kForkedWithoutExec = 0x40;  // PF_FORKNOEXEC of linux/sched.h

// Reads a process from /proc/PID/stat, whose second field is a name of any characters, in
// parentheses. Parent 0: the process is gone.
Entry look_at(int pid) {
  char text[1024];
  std::snprintf(text, sizeof text, "/proc/%d/stat", pid);
  const int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return {};
  text[length] = '\0';
  const char* after_name = std::strrchr(text, ')');
  char state = 0;
  unsigned flags = 0;
  Entry entry{.pid = pid};
  // Fields 3 to 9, and 22 (proc_pid_stat(5)).
  if (after_name == nullptr ||
      std::sscanf(after_name + 1,
                  " %c %d %d %*d %*d %d %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
                  &state, &entry.parent, &entry.group, &entry.foreground, &flags,
                  &entry.start_ticks) != 6)
    return {};
  entry.has_executed = (flags & kForkedWithoutExec) == 0;
  return entry;
}

// Whether a process may be about to execute a program. Between fork and exec a shell's child still
// has the shell's handlers, and the signal could reach the program that it then executes.
bool may_be_about_to_execute(const Entry& process) {
  if (process.has_executed) return false;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const auto ticks = static_cast<unsigned long long>(sysconf(_SC_CLK_TCK));
  const auto seconds = static_cast<unsigned long long>(now.tv_sec);
  return seconds * ticks < process.start_ticks + ticks;
}

// The set of handled signals ("SigCgt"), bit n - 1 for signal n.
bool handles(int pid, int signal_number) {
  char text[4096];
  std::snprintf(text, sizeof text, "/proc/%d/status", pid);
  const int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return false;
  text[length] = '\0';
  const char* line = std::strstr(text, "\nSigCgt:");
  if (line == nullptr) return false;
  const unsigned long long caught = std::strtoull(line + 8, nullptr, 16);
  return (caught >> (signal_number - 1) & 1) != 0;
}

std::vector<Entry> processes() {
  std::vector<Entry> result;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return result;
  while (const dirent* entry = readdir(proc)) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    if (const Entry process = look_at(pid); process.parent > 0) result.push_back(process);
  }
  closedir(proc);
  return result;
}

}  // namespace

std::vector<int> descendants_of(int root) {
  const std::vector<Entry> all = processes();
  std::vector<int> found{root};
  for (std::size_t next = 0; next < found.size(); ++next)
    for (const Entry& entry : all)
      if (entry.parent == found[next] &&
          std::find(found.begin(), found.end(), entry.pid) == found.end())
        found.push_back(entry.pid);
  found.erase(found.begin());
  return found;
}

std::vector<int> handlers_in_group(int group, int signal_number) {
  std::vector<int> found;
  for (const Entry& entry : processes())
    if (entry.group == group && !may_be_about_to_execute(entry) &&
        handles(entry.pid, signal_number))
      found.push_back(entry.pid);
  return found;
}

int group_to_signal(int pid, int parent) {
  const Entry entry = look_at(pid);
  if (entry.parent != parent || parent <= 0) return -1;
  const int group = entry.foreground > 0 ? entry.foreground : entry.group;
  return group > 1 ? group : -1;
}

void kill_descendants() {
  if (getpid() == 1) {
    kill(-1, SIGKILL);
    return;
  }
  for (const int pid : descendants_of(getpid())) kill(pid, SIGKILL);
}

}  // namespace lockstep::spawn
