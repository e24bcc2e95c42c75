#include "common/fabric/socket_interface.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/domain/runners/probe_protocol.h"
#include "common/grammar/ip_network.h"

namespace lockstep {
namespace {

constexpr std::string_view kLoopback = "lo";

// The interface's address in the network; nullptr: it has no address there.
const FabricAddress* address_in(const FabricInterface& interface, const std::string& network) {
  const auto parsed = parse_ip_network(network);
  if (!parsed) return nullptr;
  for (const FabricAddress& one : interface.addresses)
    if (has_address(*parsed, one.address)) return &one;
  return nullptr;
}

// ---- the operator's ----------------------------------------------------------------------------

std::optional<SocketInterface> operators_choice(const NodeFabric& fabric,
                                                const OperatorInterface& wanted) {
  const auto chosen = [&](const std::string& name, std::string reason) {
    return SocketInterface{name, SettingSource::operator_file, std::move(reason), ""};
  };
  // Without a report of interfaces, the first name is used unchecked.
  if (fabric.interfaces.empty() && !wanted.names.empty())
    return chosen(wanted.names.front(),
                  fmt::format("{} names {}", wanted.rule, wanted.names.front()));
  for (const std::string& name : wanted.names)
    if (interface_named(fabric, name) != nullptr)
      return chosen(name, fmt::format("{} names {}", wanted.rule, name));
  for (const std::string& network : wanted.networks)
    for (const FabricInterface& interface : fabric.interfaces)
      if (const FabricAddress* one = address_in(interface, network))
        return chosen(interface.name,
                      fmt::format("{} names the network {}, in which {} has {}", wanted.rule,
                                  network, interface.name, one->address));
  return std::nullopt;
}

std::string not_there(const OperatorInterface& wanted) {
  std::vector<std::string> all = wanted.names;
  all.insert(all.end(), wanted.networks.begin(), wanted.networks.end());
  return fmt::format("{} names {}, which this node does not have", wanted.rule,
                     fmt::join(all, ", "));
}

// ---- the probe's -------------------------------------------------------------------------------

// "in 0.12 ms, at 94.1 Gbit/s"
std::string measured(const ChosenPath& path) {
  std::string text;
  if (path.round_trip > Duration::zero())
    text += fmt::format(", in {:.2f} ms",
                        std::chrono::duration<double, std::milli>(path.round_trip).count());
  if (path.speed_mbps >= 1'000)
    text += fmt::format(", at {:.1f} Gbit/s", static_cast<double>(path.speed_mbps) / 1'000);
  else if (path.speed_mbps > 0)
    text += fmt::format(", at {} Mbit/s", path.speed_mbps);
  return text;
}

std::size_t unreached(const ProbeResult& probe, const ChosenPath& path) {
  std::set<int> nodes;
  for (const PathFailure& failure : probe.failures)
    if (failure.from == path.node_rank && failure.from_interface == path.interface)
      nodes.insert(failure.to);
  return nodes.size();
}

std::string reached_nodes(int nodes, std::size_t lost) {
  const std::size_t others = static_cast<std::size_t>(nodes) - 1;
  if (nodes > kAllPairsUpTo)
    return lost > 0 ? fmt::format("all but {} of the nodes that it tried", lost)
                    : fmt::format("those of the {} other nodes that it tried", others);
  if (lost > 0) return fmt::format("{} of {} other nodes", others - std::min(lost, others), others);
  return others == 1 ? "the other node" : fmt::format("all {} other nodes", others);
}

std::optional<SocketInterface> probes_choice(const SocketQuestion& question) {
  if (question.probe == nullptr) return std::nullopt;
  const auto& chosen = question.probe->chosen;
  const auto path = std::find_if(chosen.begin(), chosen.end(), [&](const ChosenPath& one) {
    return one.node_rank == question.node_rank && !one.interface.empty();
  });
  if (path == chosen.end()) return std::nullopt;
  const std::size_t lost = unreached(*question.probe, *path);
  const std::string reached = reached_nodes(question.nodes, lost);
  const std::string address = path->address.empty() ? "" : fmt::format(" ({})", path->address);
  return SocketInterface{
      path->interface, SettingSource::probe,
      fmt::format("{}{} reaches {}{}{}", path->interface, address, reached, measured(*path),
                  question.probe->cached ? ", as an earlier probe found" : ""),
      ""};
}

// ---- without either ----------------------------------------------------------------------------

std::optional<SocketInterface> by_route(const std::string& name, bool was_probed) {
  if (name.empty()) return std::nullopt;
  const std::string why =
      was_probed ? "the probe chose no interface of this node" : "they were not probed";
  return SocketInterface{name, SettingSource::fixed,
                         name == kLoopback ? "all nodes of the job are on one machine"
                                           : "the route to the other nodes begins there; " + why,
                         ""};
}

}  // namespace

const FabricInterface* interface_named(const NodeFabric& fabric, const std::string& name) {
  const auto found = std::find_if(fabric.interfaces.begin(), fabric.interfaces.end(),
                                  [&](const auto& one) { return one.name == name; });
  return found == fabric.interfaces.end() ? nullptr : &*found;
}

std::optional<SocketInterface> choose_interface(const SocketQuestion& question) {
  const auto& wanted = question.operators.interface;
  if (wanted)
    if (auto chosen = operators_choice(question.fabric, *wanted)) return chosen;
  auto chosen = probes_choice(question);
  if (!chosen) chosen = by_route(question.route_interface, question.probe != nullptr);
  if (chosen && wanted) chosen->warning = not_there(*wanted);
  return chosen;
}

}  // namespace lockstep
