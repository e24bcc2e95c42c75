#include "common/fabric/rdma_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace lockstep {
namespace {

constexpr std::size_t kMostPortsNamed = 4;  // the most ports that one reason names
constexpr std::string_view kRoceV2 = "RoCE v2";

// ---- one port ----------------------------------------------------------------------------------

bool is_of_v4(const FabricGid& gid) {
  return gid.gid.starts_with("0000:0000:0000:0000:0000:ffff:");
}
bool is_link_local_gid(const FabricGid& gid) { return gid.gid.starts_with("fe80:"); }

std::string subnet_of(const FabricPort& port) {
  constexpr std::size_t kPrefixBytes = 19;  // length of "fe80:0000:0000:0000"
  for (const FabricGid& gid : port.gids)
    if (gid.index == 0) return gid.gid.substr(0, kPrefixBytes);
  return "";
}

bool is_in(const FabricPort& port, const GangFabric& gang) {
  if (port.link_layer != gang.link_layer) return false;
  if (is_roce(port)) return true;
  const std::string subnet = subnet_of(port);
  if (!subnet.empty() && !gang.subnet.empty() && subnet != gang.subnet) return false;
  return gang.pkey < 0 || port.pkeys.empty() || pkey_index(port, gang.pkey) >= 0;
}

// "mlx5_0" means all ports of a device, "mlx5_0:1" one.
bool is_named(const FabricPort& port, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == port.device || name == name_of(port);
  });
}

// ---- lists of ports ----------------------------------------------------------------------------

std::string named_ports(const PortList& ports) {
  std::vector<std::string> names;
  for (const FabricPort* port : ports)
    if (names.size() < kMostPortsNamed) names.push_back(name_of(*port));
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (ports.size() > names.size()) text += fmt::format(" and {} more", ports.size() - names.size());
  return text;
}

std::string states_of(const NodeFabric& fabric) {
  std::vector<std::string> states;
  for (const FabricPort& port : fabric.ports)
    if (states.size() < kMostPortsNamed)
      states.push_back(fmt::format("{} is {}", name_of(port),
                                   port.state.empty() ? "in no known state" : port.state));
  return fmt::format("{}", fmt::join(states, ", "));
}

template <typename Keep>
void keep_only(PortList& ports, const Keep& keep) {
  std::erase_if(ports, [&](const FabricPort* port) { return !keep(*port); });
}

// Keeps InfiniBand or Ethernet ports, which are two networks. InfiniBand is used where both exist,
// since it is faster.
void keep_one_layer(PortList& ports) {
  const bool has_infiniband = std::any_of(ports.begin(), ports.end(),
                                          [](const FabricPort* port) { return !is_roce(*port); });
  if (has_infiniband) keep_only(ports, [](const FabricPort& port) { return !is_roce(port); });
}

void keep_fastest(PortList& ports) {
  int fastest = 0;
  for (const FabricPort* port : ports) fastest = std::max(fastest, port->rate_gbps);
  keep_only(ports, [&](const FabricPort& port) { return port.rate_gbps == fastest; });
}

// Ports that are near no GPU mostly serve the storage. Without common PCI bridges (virtual machines
// show none) the NUMA node decides; without that, all ports stay.
bool keep_beside_gpus(const NodeFabric& fabric, PortList& ports, const std::vector<int>& gpus) {
  PortList near;
  for (const int index : gpus) {
    const FabricGpu* gpu = gpu_with_index(fabric, index);
    if (gpu == nullptr) return false;
    for (const FabricPort* port : nearest_ports(fabric, ports, *gpu))
      if (std::find(near.begin(), near.end(), port) == near.end()) near.push_back(port);
  }
  if (near.empty() || near.size() == ports.size()) return false;
  keep_only(ports, [&](const FabricPort& port) {
    return std::find(near.begin(), near.end(), &port) != near.end();
  });
  return true;
}

// ---- why none ----------------------------------------------------------------------------------

RdmaChoice none(const PortList& active, std::string why, bool by_operator = false) {
  return {{}, std::move(why), by_operator, !active.empty()};
}

std::string why_outside(const PortList& active, const GangFabric& gang) {
  if (!gang.shared()) return "the nodes of the job share no RDMA fabric";
  return fmt::format("no active port of this node ({}) is in the fabric that the job's nodes share",
                     named_ports(active));
}

}  // namespace

// ---- the interface -----------------------------------------------------------------------------

std::string name_of(const FabricPort& port) { return fmt::format("{}:{}", port.device, port.port); }

std::string names_of(const PortList& ports) {
  std::string text;
  for (const FabricPort* port : ports) text += (text.empty() ? "" : ",") + name_of(*port);
  return text;
}

bool is_roce(const FabricPort& port) { return port.link_layer == "Ethernet"; }

const FabricGid* routable_gid(const FabricPort& port) {
  const FabricGid* of_v6 = nullptr;
  for (const FabricGid& gid : port.gids) {
    if (gid.type != kRoceV2) continue;
    if (is_of_v4(gid)) return &gid;
    if (of_v6 == nullptr && !is_link_local_gid(gid)) of_v6 = &gid;
  }
  return of_v6;
}

const FabricGid* link_local_gid(const FabricPort& port) {
  const auto found = std::find_if(port.gids.begin(), port.gids.end(), [](const FabricGid& gid) {
    return gid.type == kRoceV2 && is_link_local_gid(gid);
  });
  return found == port.gids.end() ? nullptr : &*found;
}

bool is_software(const FabricPort& port) { return port.driver.empty() && is_roce(port); }

int pkey_index(const FabricPort& port, int pkey) {
  const auto found = std::find(port.pkeys.begin(), port.pkeys.end(), pkey | kFullMember);
  return found == port.pkeys.end() ? -1 : static_cast<int>(found - port.pkeys.begin());
}

namespace {

// "2 active InfiniBand ports of 200 Gbit/s, nearest to the job's GPUs"
std::string chosen_text(const PortList& ports, bool by_gpus) {
  return fmt::format(
      "{} active {} port{}{}{}", ports.size(), is_roce(*ports.front()) ? "RoCE" : "InfiniBand",
      ports.size() == 1 ? "" : "s",
      ports.front()->rate_gbps > 0 ? fmt::format(" of {} Gbit/s", ports.front()->rate_gbps) : "",
      by_gpus ? ", nearest to the job's GPUs" : "");
}

}  // namespace

RdmaChoice choose_rdma(const NodeFabric& fabric, const OperatorSettings& operators,
                       const std::optional<GangFabric>& gang, const std::vector<int>& gpus) {
  PortList active;
  for (const FabricPort& port : fabric.ports)
    if (port.active()) active.push_back(&port);
  if (fabric.ports.empty()) return none(active, "this node has no RDMA device");
  if (active.empty())
    return none(active, fmt::format("no RDMA port is active ({})", states_of(fabric)));
  if (!fabric.has_infiniband_devices)
    return none({}, "there is no /dev/infiniband/uverbs*, without which no program can use RDMA");
  PortList ports = active;
  if (operators.rdma) {
    keep_only(ports, [&](const FabricPort& port) { return is_named(port, operators.rdma->ports); });
    if (ports.empty())
      return none(active,
                  operators.rdma->ports.empty()
                      ? fmt::format("{} allows no RDMA", operators.rdma->rule)
                      : fmt::format("{} allows only {}, and none of them is an active port here",
                                    operators.rdma->rule, fmt::join(operators.rdma->ports, ", ")),
                  true);
  }
  if (gang) {
    keep_only(ports, [&](const FabricPort& port) { return is_in(port, *gang); });
    if (ports.empty()) return none(active, why_outside(active, *gang));
  }
  if (operators.rdma)
    return {ports, fmt::format("{} allows {}", operators.rdma->rule, named_ports(ports)), true};
  keep_only(ports,
            [](const FabricPort& port) { return !is_roce(port) || routable_gid(port) != nullptr; });
  if (ports.empty())
    return none(active, fmt::format("{} {} no RoCE v2 GID of an IP address, so nobody is reached "
                                    "over it (in a virtual machine: an accelerated network)",
                                    named_ports(active), active.size() == 1 ? "has" : "have"));
  keep_one_layer(ports);
  keep_fastest(ports);
  const bool by_gpus = keep_beside_gpus(fabric, ports, gpus);
  return {ports, chosen_text(ports, by_gpus)};
}

}  // namespace lockstep
