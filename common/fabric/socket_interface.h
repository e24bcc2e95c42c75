#pragma once
// Chooses the interface over which a node's ranks open sockets to ranks of other nodes, and gives
// the reason: the operator's interface, the one that the gang's probe found, else the route's.
// Pure.

#include <optional>
#include <string>

#include "common/domain/targets/fabric.h"

namespace lockstep {

struct SocketInterface {
  std::string name;
  SettingSource source = SettingSource::fixed;
  std::string reason;
  std::string warning;  // the rule of fabric.yml that cannot be followed here; "": there is none
};

struct SocketQuestion {
  const NodeFabric& fabric;
  const ProbeResult* probe = nullptr;  // may be null
  const OperatorSettings& operators;
  int node_rank = 0;
  int nodes = 1;
  std::string route_interface;  // see RankPlace
};

// Chooses the interface; nullopt: none is known, and libraries choose by themselves.
std::optional<SocketInterface> choose_interface(const SocketQuestion& question);

// Finds an interface by name; null: the node has none of this name.
const FabricInterface* interface_named(const NodeFabric& fabric, const std::string& name);

}  // namespace lockstep
