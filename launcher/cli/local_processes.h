#pragma once
// The processes that `lockstep up` starts on this machine: one lockstepd and its local agents.
// Starts them, finds them again by pid and start time, and ends them. The caller holds
// LocalHome::up_lock.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/io/process.h"
#include "common/io/runners.h"
#include "common/io/transport.h"
#include "launcher/cli/endpoint.h"
#include "launcher/cli/local_home.h"
#include "launcher/cli/machine.h"

namespace lockstep::cli {

// Our own key pair, and the folders that hold it; made when they do not exist.
Result<io::KeyPair> user_keys(const LocalHome& home);
// Adds "NAME KEY" to the users that a daemon of this home lets in; a key stands there once.
Status authorize(const LocalHome& home, const PublicKey& key);

// Starts a daemon and waits until it wrote its endpoint; an early end shows the end of its log.
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
// Of all local nodes, also of those whose folder is gone.
std::vector<io::Runner> living_runners(const LocalHome& home);
// True while a cgroup that an attempt of this node recorded is still there.
bool has_cgroups(const LocalHome& home, const std::string& name);
// Empties and removes these cgroups. No runner of the node may live.
Status clean_node(const LocalHome& home, const std::string& name);
// Names of the folders in nodes/.
std::vector<std::string> local_node_names(const LocalHome& home);

// SIGTERM, and SIGKILL to those that are still there after `grace`. An error names who stayed.
Status end_processes(const std::vector<io::ProcessIdentity>& who, Duration grace);
// True when all of them are gone within `timeout`.
bool wait_gone(const std::vector<io::ProcessIdentity>& who, Duration timeout);

// "0-0", "0-3,8": how lockstep-agent takes a list of cpus (a bare number would be a count).
std::string cpu_list(const std::vector<int>& cpus);

// The last lines of a log, indented, for an error message.
std::string log_tail(const std::string& path);

}  // namespace lockstep::cli
