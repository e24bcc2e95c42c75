#include "common/io/cgroups/nursery.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "common/io/cgroups/cgroup_layout.h"
#include "common/io/cgroups/pids_of_jobs.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::io {
namespace {

constexpr int kTries = 20;

// The cgroup that counts the processes of a process ("self": this one).
std::optional<std::string> cgroup_of(const std::string& pid) {
  const auto hierarchies =
      find_cgroup_hierarchies(read_file("/proc/self/mountinfo").value_or(""),
                              read_file(fmt::format("/proc/{}/cgroup", pid)).value_or(""));
  for (const auto& hierarchy : hierarchies)
    if (hierarchy.version == 1 && hierarchy.controllers.count("pids") > 0) return hierarchy.own;
  return std::nullopt;
}

std::optional<std::string> own_cgroup() {
  const auto own = cgroup_of("self");
  if (!own) return std::nullopt;
  return outside_nursery(*own);
}

bool enter(const std::string& directory) {
  const Fd procs(open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  return procs && write(procs.get(), "0", 1) == 1;
}

}  // namespace

std::string enter_nursery() {
  const auto own = own_cgroup();
  if (!own || access(own->c_str(), W_OK) != 0) return "";
  const std::string folder = *own + kOfAttempts;
  // Another attempt that ends may remove the folder or the empty nursery between these calls
  // (remove_empty_nurseries()), so they are retried.
  for (int i = 0; i < kTries; ++i) {
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return "";
    (void)limit_pids_of_jobs(folder);  // the inventory reports where this cannot be set
    const std::string nursery = fmt::format("{}/{}{:016x}", folder, kNurseryPrefix, random_u64());
    if (mkdir(nursery.c_str(), 0755) != 0) continue;
    if (enter(nursery)) return nursery;
    rmdir(nursery.c_str());
    rmdir(folder.c_str());
  }
  return "";
}

std::string nursery_of(int pid) {
  const auto cgroup = cgroup_of(std::to_string(pid));
  return cgroup && outside_nursery(*cgroup) != *cgroup ? *cgroup : "";
}

void remove_empty_nurseries() {
  if (const auto own = own_cgroup()) remove_empty_nurseries_in(*own + kOfAttempts);
}

void remove_empty_nurseries_in(const std::string& folder) {
  {
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
    if (!entries) return;
    while (const dirent* entry = ::readdir(entries.get()))
      if (std::string(entry->d_name).starts_with(kNurseryPrefix))
        rmdir((folder + "/" + entry->d_name).c_str());
  }
  rmdir(folder.c_str());  // fails while an attempt has a nursery in it
}

}  // namespace lockstep::io
