#include "common/fabric/nearness.h"

#include <algorithm>
#include <string_view>

namespace lockstep {
namespace {

// "0000:00:01.0/0000:03:00.0" without its last part, which is the device.
std::string_view bridges_above(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view next_part(std::string_view* path) {
  const std::string_view part = path->substr(0, path->find('/'));
  path->remove_prefix(std::min(path->size(), part.size() + 1));
  return part;
}

int shared_bridges(const std::string& a, const std::string& b) {
  std::string_view left = bridges_above(a), right = bridges_above(b);
  int shared = 0;
  while (!left.empty() && !right.empty() && next_part(&left) == next_part(&right)) ++shared;
  return shared;
}

int numa_distance(const NodeFabric& fabric, int a, int b) {
  constexpr int kOwn = 10;
  if (a < 0 || b < 0) return kUnknownDistance;
  if (a == b) return kOwn;
  const auto place_of = [&](int node) {
    return std::find_if(fabric.numa.begin(), fabric.numa.end(),
                        [&](const FabricNuma& one) { return one.node == node; });
  };
  const auto from = place_of(a), to = place_of(b);
  if (from == fabric.numa.end() || to == fabric.numa.end()) return kUnknownDistance;
  const auto column = static_cast<std::size_t>(to - fabric.numa.begin());
  return column < from->distances.size() ? from->distances[column] : kUnknownDistance;
}

}  // namespace

bool Nearness::is_nearer_than(const Nearness& other) const {
  return bridges != other.bridges ? bridges > other.bridges : numa < other.numa;
}

Nearness nearness(const NodeFabric& fabric, const FabricGpu& gpu, const FabricPort& port) {
  return {shared_bridges(gpu.pci, port.pci), numa_distance(fabric, gpu.numa_node, port.numa_node)};
}

PortList nearest_ports(const NodeFabric& fabric, const PortList& ports, const FabricGpu& gpu) {
  PortList nearest;
  Nearness best;
  for (const FabricPort* port : ports) {
    const Nearness here = nearness(fabric, gpu, *port);
    if (!nearest.empty() && best.is_nearer_than(here)) continue;
    if (nearest.empty() || here.is_nearer_than(best)) {
      nearest.clear();
      best = here;
    }
    nearest.push_back(port);
  }
  return nearest;
}

const FabricGpu* gpu_with_index(const NodeFabric& fabric, int index) {
  const auto found = std::find_if(fabric.gpus.begin(), fabric.gpus.end(),
                                  [&](const FabricGpu& gpu) { return gpu.index == index; });
  return found == fabric.gpus.end() ? nullptr : &*found;
}

}  // namespace lockstep
