#include "launcher/compute/ssh/provider.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>

#include "launcher/compute/at_once.h"
#include "launcher/compute/bundle.h"
#include "launcher/compute/ssh/hold.h"
#include "launcher/compute/ssh/machine.h"

namespace lockstep::compute::ssh {
namespace {

tl::expected<void, Failed> work_on(Verb verb, Machine& machine) {
  switch (verb) {
    case Verb::check: return machine.check();
    case Verb::create: return machine.create();
    case Verb::list: return machine.list();
    case Verb::remove: return machine.remove();
    case Verb::hold: break;
  }
  return {};
}

struct Task {
  Host host;
  std::string token;
};

// The hosts of the machines in the request; all hosts if it names none.
Result<std::vector<Task>> tasks_of(const Request& request, const std::vector<Host>& hosts) {
  std::vector<Task> tasks;
  if (request.machines.empty())
    for (const Host& host : hosts) tasks.push_back({host, ""});
  for (const compute::Machine& machine : request.machines) {
    const auto host = std::find_if(hosts.begin(), hosts.end(),
                                   [&](const Host& one) { return one.name == machine.name; });
    if (host == hosts.end())
      return make_error(ErrorCode::invalid_argument,
                        "machine " + machine.name + " is not in settings.hosts");
    tasks.push_back({*host, machine.token});
  }
  return tasks;
}

// A directory of this process for ssh's sockets. Its path is short, because a socket's path has at
// most 107 bytes.
struct SocketsDirectory {
  std::string path;
  SocketsDirectory() = default;
  SocketsDirectory(const SocketsDirectory&) = delete;
  SocketsDirectory& operator=(const SocketsDirectory&) = delete;
  ~SocketsDirectory() {
    if (!path.empty()) (void)io::remove_tree(path);
  }
  Status make() {
    char name[] = "/tmp/lockstep-ssh-XXXXXX";
    if (::mkdtemp(name) == nullptr) return errno_error(errno, "make a directory in /tmp");
    path = name;
    return {};
  }
};

Status check_tunnel(Verb verb, const Request& request, TunnelUse use) {
  const bool needed = verb == Verb::hold ||
                      (use == TunnelUse::always && (verb == Verb::check || verb == Verb::create));
  if (!needed || request.endpoints) return {};
  return make_error(ErrorCode::invalid_argument,
                    "the request's endpoints are missing, and a tunnel must lead to them");
}

// Works on several machines at a time. Returns the number of machines that failed.
int work_on_all(Verb verb, const Call& call, const std::vector<Task>& tasks,
                const std::vector<ClientFiles>& files, Events& events) {
  return at_once(tasks.size(), events, [&](std::size_t i) {
    const Task& task = tasks[i];
    auto client = Client::open(task.host, files[i]);
    if (!client)
      return Outcome{task.host.name,
                     tl::unexpected(Failed{"connect", Failure::failed, client.error().message})};
    Machine machine(call, task.token, **client, events);
    return Outcome{task.host.name, work_on(verb, machine)};
  });
}

}  // namespace

Result<int> carry_out(Verb verb, const Request& request, const std::string& program,
                      Events& events) {
  TRY_ASSIGN(const Settings settings, settings_from(request.settings));
  TRY(check_tunnel(verb, request, settings.tunnel));
  TRY_ASSIGN(const std::vector<Task> tasks, tasks_of(request, settings.hosts));
  Call call{request, settings.tunnel, "", settings.share};
  if (verb == Verb::create) {
    if (request.bundle.empty())
      return make_error(
          ErrorCode::invalid_argument,
          "the request has no 'bundle' (the archive with the agent); make one with scripts/bundle");
    TRY_ASSIGN(call.bundle_digest, bundle_digest(request.bundle));
  }
  TRY(io::make_directories(request.state, 0700));
  SocketsDirectory sockets;
  TRY(sockets.make());
  std::vector<ClientFiles> files;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    files.push_back(
        {request.state + "/known_hosts", fmt::format("{}/{}", sockets.path, i), program});
  if (verb != Verb::hold) return work_on_all(verb, call, tasks, files, events);
  std::vector<Holding> machines;
  for (std::size_t i = 0; i < tasks.size(); ++i) machines.push_back({tasks[i].host, files[i]});
  TRY(hold(call, machines, events));
  return 0;
}

}  // namespace lockstep::compute::ssh
