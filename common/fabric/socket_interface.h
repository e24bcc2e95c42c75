#pragma once
// The interface over which the ranks of a node open their sockets to those of other nodes, and why
// that one: the operator's, the one that the gang's probe found, else that of the route. Pure.

#include <optional>
#include <string>

#include "common/domain/targets/fabric.h"

namespace lockstep {

struct SocketInterface {
  std::string name;
  SettingSource source = SettingSource::fixed;
  std::string reason;
  std::string warning;  // what of fabric.yml cannot be followed here; "": nothing
};

struct SocketQuestion {
  const NodeFabric& fabric;
  const ProbeResult* probe = nullptr;  // may be null
  const OperatorSettings& operators;
  int node_rank = 0;
  int nodes = 1;
  std::string route_interface;  // see RankPlace
};

// nullopt: none is known, and libraries choose by themselves.
std::optional<SocketInterface> choose_interface(const SocketQuestion& question);

// Null: the node has none of this name.
const FabricInterface* interface_named(const NodeFabric& fabric, const std::string& name);

}  // namespace lockstep
