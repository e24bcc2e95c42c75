#include "launcher/cli/local/surplus_nodes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "common/io/disk.h"
#include "launcher/cli/local/processes.h"

namespace lockstep::cli {

namespace {

// The contents of an agent's identity.json: the launcher that it joined.
struct Joined {
  NodeId node;
  PublicKey launcher_key;
};

std::optional<Joined> read_identity(const LocalHome& home, const std::string& name) {
  const auto text = io::read_file(home.agent_identity(name), kibibytes(64));
  if (!text) return std::nullopt;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto node = json.find("node"), key = json.find("launcher_key");
  if (node == json.end() || !node->is_number_unsigned()) return std::nullopt;
  if (key == json.end() || !key->is_string()) return std::nullopt;
  return Joined{NodeId(node->get<std::uint64_t>()), PublicKey(key->get<std::string>())};
}

void forget_identity(const LocalHome& home, const std::string& name) {
  io::disk::unlink(home.agent_identity(name).c_str());
  io::disk::unlink(home.agent_keys(name).c_str());
}

// Removes attempts that the agent had not removed before it ended. Those with cgroups are left to
// an agent.
void remove_attempts(const LocalHome& home, const std::string& name) {
  if (!has_cgroups(home, name)) static_cast<void>(io::remove_tree(home.attempts(name)));
}

}  // namespace

NodeId node_id(const LocalHome& home, const std::string& name) {
  const auto identity = read_identity(home, name);
  return identity ? identity->node : NodeId{};
}

Result<Known> known_nodes(Connection& connection, const Endpoint& endpoint, Duration timeout) {
  TRY_ASSIGN(NodesReply reply, connection.ask_for<NodesReply>(ListNodes{}, timeout));
  return Known{endpoint.public_key, std::move(reply.nodes)};
}

bool belongs_to_other_launcher(const LocalHome& home, const std::string& name,
                               const PublicKey& launcher_key) {
  const auto identity = read_identity(home, name);
  return identity && identity->launcher_key != launcher_key;
}

bool belongs_to_other_launcher(const LocalHome& home, const std::string& name, const Known& known) {
  const auto identity = read_identity(home, name);
  if (!identity) return false;
  return identity->launcher_key != known.launcher_key ||
         std::none_of(known.nodes.begin(), known.nodes.end(),
                      [&](const NodeView& node) { return node.id == identity->node; });
}

Status forget_past_node(Connection& connection, const LocalHome& home, const Known& known,
                        const std::string& name) {
  const auto identity = read_identity(home, name);
  if (identity && !belongs_to_other_launcher(home, name, known)) return {};
  if (identity && !living_runners(home, name).empty())
    return make_error(
        ErrorCode::conflict,
        fmt::format(
            "the node in {0} belongs to another launcher than the one in {1}, and still runs a "
            "job; restore the other launcher's home, or end the lockstep-runner of this job",
            home.node(name), home.launcher()));
  if (identity) forget_identity(home, name);
  for (const NodeView& node : known.nodes)
    // The launcher refuses this while the node holds a job.
    if (node.name == name && node.liveness != Liveness::alive)
      (void)connection.ask_for<Done>(RemoveNode{std::to_string(node.id.value)});
  return {};
}

void remove_surplus_nodes(Connection& connection, const LocalHome& home, int nodes) {
  std::set<std::string> wanted;
  for (int i = 0; i < nodes; ++i) wanted.insert(LocalHome::node_name(i));
  for (const auto& name : local_node_names(home)) {
    const auto identity = read_identity(home, name);
    if (!identity || wanted.count(name) != 0) continue;
    if (!living_agents(home, name).empty() || !living_runners(home, name).empty()) continue;
    const auto removed = connection.ask_for<Done>(RemoveNode{std::to_string(identity->node.value)});
    if (!removed && removed.error().code != ErrorCode::not_found) continue;
    forget_identity(home, name);
    remove_attempts(home, name);
  }
}

}  // namespace lockstep::cli
