#include "common/io/cgroups/pids_of_jobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "common/io/cgroups/cgroup_layout.h"
#include "common/io/file_system.h"

namespace lockstep::io {
namespace {

constexpr long long kLeastReserve = 1024, kMostReserve = 16384;
// The limit counts as reached when a fiftieth is free, and pids as scarce below an eighth.
constexpr long long kNearly = 50;
constexpr long long kFew = 8;

long long number_in(const std::string& file) {
  return std::atoll(read_file(file).value_or("").c_str());
}

}  // namespace

long long pids_of_jobs(long long pid_max, long long threads_max) {
  const long long all = std::min(pid_max, threads_max);
  const long long reserve = std::clamp(all / 8, kLeastReserve, kMostReserve);
  return std::max(all - reserve, all / 2);
}

long long pids_of_jobs() {
  return pids_of_jobs(number_in("/proc/sys/kernel/pid_max"),
                      number_in("/proc/sys/kernel/threads-max"));
}

Status limit_pids_of_jobs(const std::string& parent) {
  const std::string file = parent + "/pids.max";
  if (!exists(file)) return {};
  const std::string limit = std::to_string(pids_of_jobs());
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), limit.data(), limit.size()) < 0)
    return errno_error(errno, fmt::format("write {} to {}", limit, file));
  return {};
}

PidsOfJobs look_at_pids_of_jobs(const std::string& parent) {
  PidsOfJobs found;
  found.limit = number_in(parent + "/pids.max");  // 0 for "max"
  if (found.limit == 0) return found;
  const long long left = found.limit - number_in(parent + "/pids.current");
  found.is_used_up = left <= found.limit / kNearly;
  found.is_scarce = left < found.limit / kFew;
  std::istringstream events(read_file(parent + "/pids.events.local").value_or(""));
  std::string word;
  while (events >> word)
    if (word == "max") events >> found.refused;
  return found;
}

PidsOfJobsWatch::PidsOfJobsWatch() {
  for (const CgroupHierarchy& hierarchy :
       find_cgroup_hierarchies(read_file("/proc/self/mountinfo").value_or(""),
                               read_file("/proc/self/cgroup").value_or(""))) {
    if (hierarchy.version == 1 && hierarchy.controllers.count("pids") > 0)
      parents_.push_back(outside_nursery(hierarchy.own) + kOfAttempts);
    if (hierarchy.version != 2) continue;
    parents_.push_back(hierarchy.own.substr(0, hierarchy.own.rfind('/')) + kOfAttempts);
    parents_.push_back(hierarchy.mount_point + kOfAttempts);
  }
}

std::optional<PidsOfJobsWatch::Shortage> PidsOfJobsWatch::shortage() const {
  for (const std::string& parent : parents_)
    if (const PidsOfJobs now = look_at_pids_of_jobs(parent); now.is_scarce)
      return Shortage{now.limit, parent};
  return std::nullopt;
}

}  // namespace lockstep::io
