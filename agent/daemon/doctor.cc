#include "agent/daemon/doctor.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "agent/daemon/links/identity.h"
#include "agent/inventory/disk.h"
#include "agent/inventory/gpu.h"
#include "agent/inventory/isolation.h"
#include "agent/inventory/network.h"
#include "agent/inventory/workdir.h"
#include "agent/supervise/agent_home.h"
#include "common/base/bytes.h"
#include "common/io/file_system.h"
#include "common/io/net/port_lease.h"
#include "common/io/net/reach.h"
#include "common/io/process.h"
#include "common/io/programs/run_program.h"

namespace lockstep::agent {
namespace {

constexpr Duration kProgramTimeout = seconds(10);
constexpr Duration kPortTimeout = seconds(4);
constexpr Bytes kLittleDisk{1ull << 30};
constexpr Bytes kSomeDisk{5ull << 30};
constexpr Bytes kUsualSharedMemory{1ull << 30};

Finding node(std::string check, Verdict verdict, std::string found, std::string advice = "") {
  return {"node", std::move(check), verdict, std::move(found), std::move(advice)};
}
Finding fine(std::string check, std::string found) {
  return node(std::move(check), Verdict::ok, std::move(found));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += (all.empty() ? "" : "; ") + line;
  return all;
}

void add_programs(Findings& out) {
  for (const std::string name :
       {"lockstep-runner", "lockstep-pmix", "lockstep-spawn", "lockstep-env"}) {
    const auto path = io::find_program(name);
    if (!path) {
      out.push_back(node(name, Verdict::problem, path.error().message, "install it again"));
      continue;
    }
    const auto answer = io::run_program({*path, "--version"}, kProgramTimeout);
    const std::string found = answer ? first_line(answer->text) : answer.error().message;
    if (found == name + " " + LOCKSTEP_VERSION) {
      out.push_back(fine(name, *path + ", " + LOCKSTEP_VERSION));
    } else {
      out.push_back(
          node(name, Verdict::problem,
               fmt::format("{} reports '{}', but the agent is {}", *path, found, LOCKSTEP_VERSION),
               "install all of Lockstep's programs together"));
    }
  }
}

void add_kernel(Findings& out) {
  utsname names{};
  ::uname(&names);
  int major = 0, minor = 0;
  std::sscanf(names.release, "%d.%d", &major, &minor);
  if (major > 5 || (major == 5 && minor >= 3)) {
    out.push_back(fine("kernel", names.release));
  } else {
    out.push_back(node("kernel", Verdict::problem,
                       fmt::format("{} has no pidfd_open(2)", names.release),
                       "Lockstep needs Linux 5.3 or newer"));
  }
}

// Starts the PMIx server as it is started for ranks, with all plug-ins, in a temporary directory.
void add_pmix(Findings& out) {
  const auto runner = io::find_program("lockstep-runner");
  if (!runner) return;
  std::string scratch = "/tmp/ls-doctor-XXXXXX";
  if (::mkdtemp(scratch.data()) == nullptr) {
    out.push_back(node("MPI ranks (PMIx)", Verdict::problem, "/tmp is not writable",
                       "jobs need it too: chmod 1777 /tmp"));
    return;
  }
  const auto answer = io::run_program({*runner, "--self-test", scratch}, kProgramTimeout);
  [[maybe_unused]] const Status removed = io::remove_tree(scratch);
  if (answer && answer->exit_code == 0) {
    out.push_back(fine("MPI ranks (PMIx)", "can be served by " + first_line(answer->text)));
    return;
  }
  out.push_back(node("MPI ranks (PMIx)", Verdict::problem,
                     "the PMIx server does not start: " +
                         (answer ? first_line(answer->errors) : answer.error().message),
                     "install libpmix2 whole, or unpack the bundle again"));
}

void add_home(const std::string& home, Findings& out) {
  if (!io::exists(home)) {
    out.push_back(fine("agent's home", home + " does not exist yet; the agent makes it"));
    return;
  }
  if (::access(home.c_str(), W_OK) != 0) {
    out.push_back(node("agent's home", Verdict::problem, home + " is not writable for this account",
                       "run this as the agent's account, or name another --home"));
    return;
  }
  const Bytes free = probe_disk(home);
  const std::string found = fmt::format("{}, {} free", home, to_string(free));
  const Verdict verdict = free < kLittleDisk ? Verdict::problem
                          : free < kSomeDisk ? Verdict::warning
                                             : Verdict::ok;
  out.push_back(
      node("agent's home", verdict, found,
           verdict == Verdict::ok ? "" : "source trees and outputs need more: free some space"));
  const WorkdirProbe workdir = probe_workdir(home);
  out.push_back(
      node("working directories", workdir.limitations.empty() ? Verdict::ok : Verdict::warning,
           workdir.mode + (workdir.limitations.empty() ? "" : ": ") + joined(workdir.limitations),
           workdir.limitations.empty() ? ""
                                       : "jobs work, with a copy of the source tree for each "
                                         "attempt; run the agent as root to have overlays"));
}

// Adds a finding for each of the launcher's two ports, since a firewall may let one pass and block
// the other.
void add_launcher(const std::string& home, Findings& out) {
  const auto identity = load_identity(AgentHome(home).identity());
  if (!identity || !*identity) return;
  const std::array<std::pair<const char*, std::string>, 2> ports{
      {{"launcher's port for nodes", (*identity)->control_endpoint},
       {"launcher's port for files and logs", (*identity)->bulk_endpoint}}};
  for (const auto& [check, endpoint] : ports) {
    const std::string trouble = io::dial_trouble(endpoint, kPortTimeout);
    out.push_back(trouble.empty()
                      ? fine(check, endpoint + " answers")
                      : node(check, Verdict::problem,
                             fmt::format("no connection to {}: {}", endpoint, trouble),
                             "let firewalls between here and the launcher pass its port and the "
                             "next two"));
  }
}

void add_isolation(Findings& out) { out.push_back(examine_isolation(probe_isolation())); }

void add_shared_memory(Findings& out) {
  struct statvfs info {};
  if (::statvfs("/dev/shm", &info) != 0 || ::access("/dev/shm", W_OK) != 0) {
    out.push_back(node("shared memory", Verdict::problem, "/dev/shm is not there or not writable",
                       "mount a tmpfs there: NCCL, PyTorch's loaders and MPI need it"));
    return;
  }
  const Bytes size{static_cast<std::uint64_t>(info.f_blocks) * info.f_frsize};
  const bool enough = !(size < kUsualSharedMemory);
  out.push_back(node("shared memory", enough ? Verdict::ok : Verdict::warning,
                     "/dev/shm has " + to_string(size),
                     enough ? ""
                            : "NCCL and PyTorch's loaders may run out of it: mount -o "
                              "remount,size=50% /dev/shm, or docker run --shm-size"));
}

bool memory_locking_unlimited() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_max == RLIM_INFINITY;
}

void add_limits(Findings& out) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const bool enough = files.rlim_max >= 4096;
  out.push_back(node("open files", enough ? Verdict::ok : Verdict::warning,
                     fmt::format("at most {}", files.rlim_max),
                     enough ? ""
                            : "jobs with many ranks need more: LimitNOFILE= of the unit, or "
                              "ulimit -n"));
}

void add_network(Findings& out) {
  const auto interfaces = probe_interfaces();
  const bool loopback = std::any_of(interfaces.begin(), interfaces.end(),
                                    [](const auto& each) { return each.loopback && each.up; });
  out.push_back(loopback ? fine("loopback interface", "is up")
                         : node("loopback interface", Verdict::problem, "is down",
                                "ip link set lo up; MPI ranks reach their runner over it"));
  addrinfo* list = nullptr;
  const std::string name = io::host_name();
  const int failed = ::getaddrinfo(name.c_str(), nullptr, nullptr, &list);
  if (failed == 0) ::freeaddrinfo(list);
  out.push_back(failed == 0 ? fine("host name", name + " resolves")
                            : node("host name", Verdict::warning,
                                   name + " does not resolve: " + ::gai_strerror(failed),
                                   "add the host name to /etc/hosts; gloo (PyTorch without "
                                   "GPUs) hangs when it does not resolve"));
}

bool can_listen(std::uint16_t port) {
  const io::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  return fd && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
}

void add_ports(Findings& out) {
  const io::PortRange range;
  const std::string found = fmt::format("{} to {}", range.first, range.last);
  int port = range.first;
  while (port <= range.last && !can_listen(static_cast<std::uint16_t>(port))) ++port;
  out.push_back(
      port <= range.last
          ? fine("ports for MASTER_PORT", fmt::format("port {} is free, of {}", port, found))
          : node("ports for MASTER_PORT", Verdict::warning, "no free port in " + found,
                 "jobs get other ports; `ss -lntp` lists the programs that use these"));
}

struct Tool {
  const char* check;
  std::vector<std::string> words;
  const char* without;  // the things that do not work without it
};

// Tools that jobs mostly bring themselves. The ranks' PATH begins with /usr/bin.
void add_tools(Findings& out) {
  const std::string torch = "import importlib.metadata as m; print('torch', m.version('torch'))";
  const std::array<Tool, 3> tools{{
      {"python3", {"python3", "--version"}, "jobs bring their own, or none uses Python"},
      {"PyTorch", {"python3", "-c", torch}, "jobs bring their own, in an environment"},
      {"Open MPI", {"ompi_info", "--version"}, "MPI jobs bring their own"},
  }};
  for (const Tool& tool : tools) {
    const auto answer =
        io::run_program(tool.words, kProgramTimeout, "/usr/bin:/bin:/usr/local/bin");
    const bool there = answer && answer->exit_code == 0;
    const std::string none = std::string("none in /usr/bin: ") + tool.without;
    out.push_back(fine(tool.check, there ? first_line(answer->text) : none));
  }
}

}  // namespace

Finding examine_isolation(const IsolationProbe& probe) {
  if (probe.limitations.empty()) return fine("cgroups", probe.kind);
  std::vector<std::string> limits;
  for (const auto& [name, why] : probe.unenforced) limits.push_back(name);
  const std::string unenforced = limits.empty()
                                     ? ""
                                     : fmt::format(
                                           "; not placed here: jobs with a limit of {} and "
                                           "`lockstep.limits: required`",
                                           fmt::join(limits, " or "));
  return node("cgroups", Verdict::warning,
              probe.kind + ": " + joined(probe.limitations) + unenforced,
              "run the agent as root, or delegate a cgroup to it (Delegate=yes in its unit)");
}

Findings examine_gpus(const std::string& root, const std::string& nvml_library) {
  const GpuProbe probe = probe_gpus(nvml_library);
  if (!probe.limitation.empty()) {
    return {node("GPUs", Verdict::problem, probe.limitation,
                 "run nvidia-smi; the driver and its library must have the same version")};
  }
  if (!probe.gpus.empty()) {
    return {fine("GPUs", fmt::format("{} x {}", probe.gpus.size(), probe.gpus.front().name))};
  }
  const std::string devices = root + "/sys/bus/pci/devices";
  const auto names = io::list_directory(devices);
  for (const std::string& name : names ? *names : std::vector<std::string>{}) {
    const auto vendor = io::read_file(devices + "/" + name + "/vendor");
    const auto kind = io::read_file(devices + "/" + name + "/class");
    // PCI class 03 has the display controllers.
    if (vendor && kind && vendor->rfind("0x10de", 0) == 0 && kind->rfind("0x03", 0) == 0) {
      return {node("GPUs", Verdict::problem,
                   "an NVIDIA device is there (" + name + "), but no libnvidia-ml.so.1",
                   "install NVIDIA's driver; in a container: its toolkit, --gpus all")};
    }
  }
  return {fine("GPUs", "none")};
}

Findings examine_rdma(const std::string& root, bool memory_locking) {
  const std::string devices = root + "/sys/class/infiniband";
  const auto names = io::list_directory(devices);
  if (!names || names->empty()) return {fine("RDMA", "no device")};
  Findings found;
  for (const std::string& name : *names) {
    std::string states;
    bool active = false;
    const auto ports = io::list_directory(devices + "/" + name + "/ports");
    for (const std::string& port : ports ? *ports : std::vector<std::string>{}) {
      const std::string at = devices + "/" + name + "/ports/" + port;
      const std::string state = first_line(io::read_file(at + "/state").value_or("?"));
      active = active || state.find("ACTIVE") != std::string::npos;
      states += fmt::format("{}port {} {}", states.empty() ? "" : ", ", port, state);
    }
    found.push_back(node("RDMA", active ? Verdict::ok : Verdict::warning, name + ": " + states,
                         active ? "" : "see ibstat or rdma link; collectives go over TCP"));
  }
  if (!memory_locking) {
    found.push_back(node("locked memory", Verdict::warning, "is limited, but RDMA pins memory",
                         "LimitMEMLOCK=infinity in the agent's unit, or ulimit -l unlimited"));
  }
  return found;
}

Findings examine_machine(const std::string& home) {
  Findings out;
  for (const auto& add : {add_programs, add_kernel, add_pmix}) add(out);
  add_home(home, out);
  add_launcher(home, out);
  for (const auto& add : {add_isolation, add_shared_memory, add_limits, add_network, add_ports})
    add(out);
  for (Finding& each : examine_gpus("", "")) out.push_back(std::move(each));
  for (Finding& each : examine_rdma("", memory_locking_unlimited())) out.push_back(std::move(each));
  add_tools(out);
  // An agent that is started from this shell has the same PATH.
  const char* path = std::getenv("PATH");
  const std::string programs = path == nullptr ? "/usr/bin:/bin" : path;
  out.push_back(examine_environments(programs));
  const char* engine = std::getenv("LOCKSTEP_CONTAINER_ENGINE");
  out.push_back(examine_containers(programs, engine == nullptr ? "" : engine));
  return out;
}

}  // namespace lockstep::agent
