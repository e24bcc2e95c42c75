#include "launcher/cli/surplus_nodes.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "common/io/disk.h"
#include "launcher/cli/local_processes.h"

namespace lockstep::cli {

namespace {

std::optional<std::uint64_t> node_id_of(const std::string& identity_file) {
  const auto text = io::read_file(identity_file, kibibytes(64));
  if (!text) return std::nullopt;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const auto it = json.find("node");
  if (!json.is_object() || it == json.end() || !it->is_number_unsigned()) return std::nullopt;
  return it->get<std::uint64_t>();
}

}  // namespace

void remove_surplus_nodes(Connection& connection, const Home& home, int nodes) {
  std::set<std::string> wanted;
  for (int i = 0; i < nodes; ++i) wanted.insert(Home::node_name(i));
  for (const auto& name : local_node_names(home)) {
    const auto id = node_id_of(home.agent_identity(name));
    if (!id || wanted.count(name) != 0) continue;
    if (!living_agents(home, name).empty() || !living_runners(home, name).empty()) continue;
    const auto removed = connection.ask_for<Done>(RemoveNode{std::to_string(*id)});
    if (!removed && removed.error().code != ErrorCode::not_found) continue;
    io::disk::unlink(home.agent_identity(name).c_str());
    io::disk::unlink(home.agent_keys(name).c_str());
  }
}

}  // namespace lockstep::cli
