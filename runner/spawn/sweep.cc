#include "runner/spawn/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
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
};

// The parent of `pid` from /proc/PID/stat, which holds a name of any characters in parentheses;
// 0 when the process is gone.
int parent_of(int pid) {
  char text[512];
  std::snprintf(text, sizeof text, "/proc/%d/stat", pid);
  const int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = '\0';
  const char* after_name = std::strrchr(text, ')');
  char state = 0;
  int parent = 0;
  if (after_name == nullptr || std::sscanf(after_name + 1, " %c %d", &state, &parent) != 2)
    return 0;
  return parent;
}

std::vector<Entry> processes() {
  std::vector<Entry> result;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return result;
  while (const dirent* entry = readdir(proc)) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    if (const int parent = parent_of(pid); parent > 0) result.push_back({pid, parent});
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

void kill_descendants() {
  if (getpid() == 1) {
    kill(-1, SIGKILL);
    return;
  }
  for (const int pid : descendants_of(getpid())) kill(pid, SIGKILL);
}

}  // namespace lockstep::spawn
