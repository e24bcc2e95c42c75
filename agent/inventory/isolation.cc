#include "agent/inventory/isolation.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "agent/inventory/cgroup_path.h"
#include "common/io/cgroups/cgroups.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::agent {
namespace {

bool writable(const std::string& path) { return ::access(path.c_str(), W_OK) == 0; }

// Whether a cgroup can enable controllers for its children, which it cannot with processes in it.
// The exception is the machine's root, which alone has no cgroup.type; the top that a container
// sees is not that root (cgroups(7)).
bool can_hand_on_memory(const std::string& base) {
  const auto handed_on = io::read_file(base + "/cgroup.subtree_control");
  if (handed_on && handed_on->find("memory") != std::string::npos) return true;
  if (!io::exists(base + "/cgroup.type")) return true;
  const auto members = io::read_file(base + "/cgroup.procs");
  return members && members->empty();
}

// The agent's own cgroup holds a process, the agent, so children with controllers can only be made
// beside it, in what was delegated. root may also use the top.
bool has_v2(const CgroupPlace& place, const std::string& root) {
  if (place.v2.empty()) return false;
  std::vector<std::string> candidates{place.v2.substr(0, place.v2.rfind('/'))};
  if (::geteuid() == 0) candidates.push_back(root + "/sys/fs/cgroup");
  for (const std::string& base : candidates) {
    const auto controllers = io::read_file(base + "/cgroup.controllers");
    if (!controllers || controllers->find("memory") == std::string::npos) continue;
    if (writable(base + "/cgroup.subtree_control") && can_hand_on_memory(base)) return true;
  }
  return false;
}

bool has_v1(const CgroupPlace& place) {
  const std::string memory = place.v1("memory");
  return !memory.empty() && writable(memory);
}

// Whether processes can be counted. In cgroup v2 `pids` is delegated with the other controllers, if
// the parent has it.
bool counts_processes(const CgroupPlace& place, const std::string& root, bool is_v2) {
  if (!is_v2) return !place.v1("pids").empty() && writable(place.v1("pids"));
  for (const std::string& base :
       {place.v2.substr(0, place.v2.rfind('/')), root + "/sys/fs/cgroup"}) {
    const auto controllers = io::read_file(base + "/cgroup.controllers");
    if (controllers && controllers->find("pids") != std::string::npos) return true;
  }
  return false;
}

IsolationProbe with_cgroups(const CgroupPlace& place, const std::string& root, bool is_v2) {
  IsolationProbe probe{is_v2 ? "cgroup-v2" : "cgroup-v1", {}};
  if (!counts_processes(place, root, is_v2)) {
    probe.unenforced["pids"] = "no pids controller";
    probe.limitations.push_back(
        "no cgroup limits processes here (pids controller): a rank or a build that forks without "
        "end can use up the whole node");
  }
  return probe;
}

// The agent that made the trial is gone, and so is the process in it.
bool is_dead_trial(const std::string& name, const std::string& lead) {
  if (!name.starts_with(lead)) return false;
  const std::string number = name.substr(lead.size());
  if (number.empty() || number.size() > 9) return false;
  if (number.find_first_not_of("0123456789") != std::string::npos) return false;
  const auto maker = io::identify(std::stoi(number));
  return !maker || io::is_ending(*maker);  // zombies count as gone
}

// Removes cgroups that an agent left when it was killed during its trial. Only empty cgroups can be
// removed.
void remove_dead_trials(const CgroupPlace& place, bool is_v2) {
  const std::vector<std::string> kNone;
  std::vector<std::string> bases{place.v2.substr(0, place.v2.rfind('/'))};
  if (!is_v2) bases = {place.v1("memory"), place.v1("pids"), place.v1("cpu"), place.v1("cpuset")};
  for (const std::string& base : bases) {
    if (base.empty()) continue;
    for (const auto& [folder, lead] :
         {std::pair(base, "lockstep-probe-"), std::pair(base + "/lockstep", "probe-")}) {
      for (const std::string& name : io::list_directory(folder).value_or(kNone)) {
        if (!is_dead_trial(name, lead)) continue;
        const std::string trial = folder + "/" + name;
        for (const std::string& rank : io::list_directory(trial).value_or(kNone))
          // Fails for files of the kernel, which go with their directory.
          io::disk::rmdir((trial + "/" + rank).c_str());
        io::disk::rmdir(trial.c_str());
      }
    }
  }
}

// Makes cgroups as a runner does for a job with a memory limit.
void try_limits(IsolationProbe& probe) {
  io::CgroupRequest request;
  request.name = "probe-" + std::to_string(::getpid());
  request.memory = mebibytes(64);
  request.is_trial = true;
  auto made = io::Cgroups::create(request);
  if (made) {
    if (made->limits_pids() && made->pids_of_jobs().limit == 0)
      probe.limitations.push_back(
          "the processes of all jobs together are not limited here (pids.max of their common "
          "cgroup cannot be set): several that fork without end can use up the whole node");
    (void)made->remove();
    return;
  }
  probe.unenforced["memory"] = made.error().message;
  probe.limitations.push_back(
      "a job's memory limit is not enforced here, and a job with one runs without cgroups: " +
      made.error().message);
}

}  // namespace

bool can_unshare(int namespaces) {
  const int all = namespaces | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) ::_exit(::unshare(all) == 0 ? 0 : 1);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

namespace {

IsolationProbe probe_cgroups(const std::string& root) {
  const CgroupPlace place = cgroup_place(root);
  const bool is_v2 = has_v2(place, root);
  if (is_v2 || has_v1(place)) {
    IsolationProbe probe = with_cgroups(place, root, is_v2);
    if (root.empty()) remove_dead_trials(place, is_v2);
    if (root.empty()) try_limits(probe);
    return probe;
  }
  IsolationProbe probe;
  probe.unenforced = {{"memory", "no cgroup is writable"}, {"pids", "no cgroup is writable"}};
  probe.limitations.push_back(
      "no cgroup is writable here: a job's memory is not limited, and an out-of-memory kill looks "
      "like any other kill");
  probe.limitations.push_back(
      "no cgroup is writable here: a rank or a build that forks without end can use up the whole "
      "node");
  if (can_unshare(CLONE_NEWPID | CLONE_NEWNS)) {
    probe.kind = "pid-namespace";
    return probe;
  }
  probe.kind = "subreaper";
  probe.limitations.push_back(
      "no PID namespace can be made: processes that a job detaches are found by scanning /proc, "
      "and a process that forks without end may escape the scan");
  return probe;
}

}  // namespace

IsolationProbe probe_isolation(const std::string& root) {
  IsolationProbe probe = probe_cgroups(root);
  if (root.empty() && !can_unshare(CLONE_NEWNS))
    probe.limitations.push_back(
        "no mount namespace can be made: ranks use the node's /dev/shm, and what those that are "
        "killed leave there stays");
  return probe;
}

}  // namespace lockstep::agent
