#pragma once
// How near a GPU and a network port of one node are: by the PCI bridges that both are behind, and
// where they share none, by the distance of their NUMA nodes. NCCL counts alike. Pure.

#include <string>
#include <vector>

#include "common/domain/targets/fabric.h"

namespace lockstep {

struct Nearness {
  int bridges = 0;  // the bridges that both are behind; more is nearer
  int numa = 0;     // distance of their NUMA nodes as the firmware gives it, 10 for one node
  bool is_nearer_than(const Nearness& other) const;
  friend bool operator==(const Nearness&, const Nearness&) = default;
};
inline constexpr int kUnknownDistance = 255;  // the distance if the NUMA nodes are unknown

Nearness nearness(const NodeFabric& fabric, const FabricGpu& gpu, const FabricPort& port);

using PortList = std::vector<const FabricPort*>;
// The ports of `ports` that are equally near to the GPU and nearer than all others, in their order.
PortList nearest_ports(const NodeFabric& fabric, const PortList& ports, const FabricGpu& gpu);

// Finds a GPU by its index; null: the node's fabric does not have it.
const FabricGpu* gpu_with_index(const NodeFabric& fabric, int index);

}  // namespace lockstep
