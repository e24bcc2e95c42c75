#include "launcher/cli/text/fabric_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "common/fabric/settings.h"
#include "launcher/cli/terminal/labelled_lines.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/phrases.h"

namespace lockstep::cli {

namespace {

std::string speed_text(std::int64_t mbps) {
  if (mbps < 0) return "";
  return mbps % 1'000 == 0 ? fmt::format("{} Gbit/s", mbps / 1'000)
                           : fmt::format("{} Mbit/s", mbps);
}

std::string numa_text(int node) { return node < 0 ? "" : fmt::format("NUMA node {}", node); }

// Joins the parts that are not empty, with commas.
std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// "eth0 10.0.0.4/24: up, MTU 1500, 50 Gbit/s, hv_netvsc, default route, NUMA node 0"
std::string interface_text(const FabricInterface& one) {
  std::string text = one.name;
  for (const FabricAddress& address : one.addresses)
    text += fmt::format(" {}/{}", address.address, address.prefix);
  return text + ": " +
         joined({one.up ? "up" : "down", fmt::format("MTU {}", one.mtu), speed_text(one.speed_mbps),
                 one.is_virtual ? joined({"virtual", one.driver}) : one.driver,
                 one.default_route ? "default route" : "", numa_text(one.numa_node), one.pci});
}

// "mlx5_0:1 ACTIVE, InfiniBand, 200 Gbit/s, LID 12, mlx5_core, firmware 20.31.1014, ib0, NUMA node
// 0"
std::string port_text(const FabricPort& port) {
  return fmt::format("{}:{} ", port.device, port.port) +
         joined({port.state, port.link_layer,
                 port.rate_gbps > 0 ? fmt::format("{} Gbit/s", port.rate_gbps) : "",
                 port.lid > 0 ? fmt::format("LID {}", port.lid) : "",
                 port.driver.empty() ? "no hardware" : port.driver,
                 port.firmware.empty() ? "" : "firmware " + port.firmware, port.netdev,
                 port.traffic_class < 0 ? "" : fmt::format("traffic class {}", port.traffic_class),
                 numa_text(port.numa_node), port.pci});
}

// "GID 3 fe80:… RoCE v2, eth1"
std::string gid_text(const FabricGid& gid) {
  return fmt::format("GID {} {}", gid.index, joined({gid.gid, gid.type, gid.netdev}));
}

std::string pkeys_text(const std::vector<int>& pkeys) {
  std::string text;
  for (std::size_t place = 0; place < pkeys.size(); ++place)
    if (pkeys[place] != 0)
      text += fmt::format("{}0x{:04x}{}", text.empty() ? "" : ", ", pkeys[place],
                          (pkeys[place] & 0x8000) == 0 ? " (limited)" : "");
  return text;
}

std::string gpu_text(const FabricGpu& gpu) {
  return fmt::format("{}: ", gpu.index) +
         joined({gpu.pci, numa_text(gpu.numa_node),
                 gpu.nvlink_peers.empty() ? "" : "NVLink with " + ranges_of(gpu.nvlink_peers),
                 gpu.p2p_peers.empty() ? "" : "peer-to-peer with " + ranges_of(gpu.p2p_peers),
                 gpu.mig ? "MIG" : ""});
}

std::string memlock_text(std::int64_t bytes) {
  if (bytes < 0) return "unlimited";
  return to_string(Bytes{static_cast<std::uint64_t>(bytes)});
}

std::string setting_lines(const NetworkSetting& one, std::size_t width) {
  std::string text =
      fmt::format("  {:<{}}  {} ({}): {}\n", in_one_line(one.name), width, in_one_line(one.value),
                  to_string(one.source), in_one_line(one.reason));
  if (!one.warning.empty())
    text += fmt::format("  {:<{}}  warning: {}\n", "", width, in_one_line(one.warning));
  return text;
}

std::string setting_list(const NetworkSettings& settings) {
  std::size_t width = 0;
  for (const NetworkSetting& one : settings) width = std::max(width, one.name.size());
  std::string text;
  for (const NetworkSetting& one : settings) text += setting_lines(one, width);
  return text;
}

// Settings of the first rank of an MPI job on two nodes that holds all GPUs of this node. The other
// node is unknown, so the interface is the default route's.
NetworkSettings expected_settings(const NodeFabric& fabric) {
  JobSpec spec;
  spec.resources.instance_count = 2;
  spec.distribution = {Distribution::Kind::mpi, std::max(1, static_cast<int>(fabric.gpus.size()))};
  RankPlace place;
  for (const FabricGpu& gpu : fabric.gpus) place.gpus.push_back(gpu.index);
  place.has_rdma_device = !fabric.ports.empty();
  for (const FabricInterface& one : fabric.interfaces)
    if (one.default_route && place.route_interface.empty()) place.route_interface = one.name;
  return settings_for(fabric, nullptr, OperatorSettings(), spec, place);
}

void add_rdma(Lines& lines, const NodeFabric& fabric) {
  for (const FabricPort& port : fabric.ports) {
    std::string text = in_one_line(port_text(port));
    for (const FabricGid& gid : port.gids) text += "\n  " + in_one_line(gid_text(gid));
    const std::string pkeys = pkeys_text(port.pkeys);
    if (!pkeys.empty()) text += "\n  partitions " + pkeys;
    lines.add("rdma", text);
  }
  if (fabric.ports.empty())
    lines.add("rdma", "no device");
  else
    lines.add("rdma files", fabric.has_infiniband_devices
                                ? "/dev/infiniband/uverbs*"
                                : "no /dev/infiniband/uverbs*: no program can use RDMA here");
}

}  // namespace

std::string fabric_text(const NodeView& node) {
  Lines lines;
  lines.add("name", node.name);
  if (!node.inventory.fabric) {
    lines.add("fabric", "its agent does not report it: update the agent");
    return lines.text();
  }
  const NodeFabric& fabric = *node.inventory.fabric;
  for (const FabricInterface& one : fabric.interfaces)
    lines.add("interface", in_one_line(interface_text(one)));
  add_rdma(lines, fabric);
  for (const FabricGpu& gpu : fabric.gpus) lines.add("gpu", in_one_line(gpu_text(gpu)));
  if (!fabric.gpus.empty() && !fabric.ports.empty())
    lines.add("gpu direct", fabric.gpu_direct ? "RDMA devices read GPU memory (nvidia_peermem)"
                                              : "nvidia_peermem is not loaded");
  for (const FabricNuma& numa : fabric.numa)
    lines.add("numa", fmt::format("{}: distances {}", numa.node, fmt::join(numa.distances, " ")));
  lines.add("nccl", fabric.nccl);
  lines.add("ucx", fabric.ucx);
  lines.add("rdma-core", fabric.verbs);
  lines.add("driver", fabric.nvidia_driver);
  lines.add("memlock", memlock_text(fabric.memlock_bytes));
  lines.add("machine", fabric.virtual_machine ? "virtual" : "");
  return lines.text() +
         "\nWhat rank 0 of an MPI job of two nodes gets here, before the nodes' probe, the "
         "launcher's "
         "fabric.yml and the\njob's own variables; `lockstep job explain NAME --env` says what a "
         "job "
         "got:\n" +
         setting_list(expected_settings(fabric));
}

std::string settings_text(const std::string& job, const SettingsView& view) {
  const std::string head = in_one_line(job);
  if (!view.absent.empty())
    return fmt::format("{}: no network settings of rank {}: {}\n", head, view.rank,
                       in_one_line(view.absent));
  std::string text = fmt::format("{}: network settings of rank {} on {}\n", head, view.rank,
                                 in_one_line(view.node_name));
  text += setting_list(view.settings);
  for (const SettingsView::Elsewhere& other : view.elsewhere)
    text += fmt::format("  rank{} {}: {}={} ({}): {}\n",
                        other.ranks.find_first_of(",-") == std::string::npos ? "" : "s",
                        in_one_line(other.ranks), in_one_line(other.setting.name),
                        in_one_line(other.setting.value), to_string(other.setting.source),
                        in_one_line(other.setting.reason));
  if (view.more) text += "  and more values on other ranks: see --rank R\n";
  return text;
}

}  // namespace lockstep::cli
