#pragma once
// The processes that `lockstep up` starts on this machine: one lockstepd and its local agents.
// Starts these processes, finds them again by pid and start time, and ends them. The caller holds
// LocalHome::up_lock.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/io/attempt/runners.h"
#include "common/io/net/transport.h"
#include "common/io/process.h"
#include "launcher/cli/link/endpoint.h"
#include "launcher/cli/local/division.h"
#include "launcher/cli/local/home.h"

namespace lockstep::cli {

// The user's key pair. Creates it and its folders if they do not exist.
Result<io::KeyPair> user_keys(const LocalHome& home);
// Adds "NAME KEY" to this home's authorized_users, unless the key is already in it.
Status authorize(const LocalHome& home, const PublicKey& key);

// Starts a daemon and waits until it has written its endpoint. If it ends before, the error shows
// the end of its log.
Result<Endpoint> start_daemon(const LocalHome& home, int fixed_nodes);

struct AgentStart {
  std::string name;
  NodeShare share;
  std::string token;
};
Result<io::ProcessIdentity> start_agent(const LocalHome& home, const Endpoint& launcher,
                                        const AgentStart& start);

// The living processes of one local node, however they were started: agents first.
std::vector<io::ProcessIdentity> living_agents(const LocalHome& home, const std::string& name);
std::vector<io::Runner> living_runners(const LocalHome& home, const std::string& name);
// The living runners of all local nodes, also of nodes whose folder was deleted.
std::vector<io::Runner> living_runners(const LocalHome& home);
// True while a cgroup that an attempt of this node recorded still exists.
bool has_cgroups(const LocalHome& home, const std::string& name);
// Empties and removes these cgroups. All runners of the node must have ended.
Status clean_node(const LocalHome& home, const std::string& name);
// Names of the folders in nodes/.
std::vector<std::string> local_node_names(const LocalHome& home);

// Sends SIGTERM, then SIGKILL to processes still alive after `grace`. An error names those that
// survived.
Status end_processes(const std::vector<io::ProcessIdentity>& who, Duration grace);
// True if all of them end within `timeout`.
bool wait_gone(const std::vector<io::ProcessIdentity>& who, Duration timeout);

// "0-0", "0-3,8": a list of cpus for lockstep-agent, which reads a bare number as a count.
std::string cpu_list(const std::vector<int>& cpus);

// The last lines of a log, indented, for an error message.
std::string log_tail(const std::string& path);

}  // namespace lockstep::cli
