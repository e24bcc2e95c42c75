#include "common/io/nursery.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "common/io/cgroup_layout.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::io {
namespace {

constexpr char kFolder[] = "/lockstep";  // where attempts' cgroups are, too
constexpr char kPrefix[] = "starting-";
constexpr int kTries = 20;

// The cgroup of this process that counts processes.
std::optional<std::string> own_cgroup() {
  const auto hierarchies = find_cgroup_hierarchies(read_file("/proc/self/mountinfo").value_or(""),
                                                   read_file("/proc/self/cgroup").value_or(""));
  for (const auto& hierarchy : hierarchies)
    if (hierarchy.version == 1 && hierarchy.controllers.count("pids") > 0)
      return outside_nursery(hierarchy.own);
  return std::nullopt;
}

bool enter(const std::string& directory) {
  const Fd procs(open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  return procs && write(procs.get(), "0", 1) == 1;
}

}  // namespace

std::string enter_nursery() {
  const auto own = own_cgroup();
  if (!own || access(own->c_str(), W_OK) != 0) return "";
  const std::string folder = *own + kFolder;
  // When the last attempt ends, remove_empty_nurseries() removes the folder, and it removes empty
  // nurseries: either may happen between two of these calls, so they are tried again.
  for (int i = 0; i < kTries; ++i) {
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return "";
    const std::string nursery = fmt::format("{}/{}{:016x}", folder, kPrefix, random_u64());
    if (mkdir(nursery.c_str(), 0755) != 0) continue;
    if (enter(nursery)) return nursery;
    rmdir(nursery.c_str());
    rmdir(folder.c_str());
  }
  return "";
}

std::string outside_nursery(const std::string& cgroup) {
  const auto found = cgroup.rfind(std::string(kFolder) + "/" + kPrefix);
  if (found == std::string::npos || cgroup.find('/', found + sizeof kFolder) != std::string::npos)
    return cgroup;
  return cgroup.substr(0, found);
}

void remove_empty_nurseries() {
  const auto own = own_cgroup();
  if (!own) return;
  const std::string folder = *own + kFolder;
  {
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
    if (!entries) return;
    while (const dirent* entry = ::readdir(entries.get()))
      if (std::string(entry->d_name).starts_with(kPrefix))
        rmdir((folder + "/" + entry->d_name).c_str());
  }
  rmdir(folder.c_str());  // fails while an attempt has a nursery in it
}

}  // namespace lockstep::io
