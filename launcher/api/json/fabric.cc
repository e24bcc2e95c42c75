#include "launcher/api/json/fabric.h"

#include "launcher/api/json/value.h"

namespace lockstep::api {

namespace {

Json known_or_null(std::int64_t number) { return number < 0 ? Json(nullptr) : Json(number); }

Json fabric_interface_json(const FabricInterface& one) {
  Json addresses = Json::array();
  for (const FabricAddress& address : one.addresses)
    addresses.push_back({{"address", address.address}, {"prefix", address.prefix}});
  return {{"name", one.name},
          {"addresses", std::move(addresses)},
          {"mtu", one.mtu},
          {"speed_mbps", known_or_null(one.speed_mbps)},
          {"driver", text_or_null(one.driver)},
          {"virtual", one.is_virtual},
          {"up", one.up},
          {"loopback", one.loopback},
          {"default_route", one.default_route},
          {"numa_node", known_or_null(one.numa_node)},
          {"pci", text_or_null(one.pci)}};
}

Json fabric_port_json(const FabricPort& port) {
  Json gids = Json::array();
  for (const FabricGid& gid : port.gids)
    gids.push_back({{"index", gid.index},
                    {"gid", gid.gid},
                    {"type", text_or_null(gid.type)},
                    {"netdev", text_or_null(gid.netdev)}});
  return {{"device", port.device},
          {"port", port.port},
          {"state", port.state},
          {"link_layer", port.link_layer},
          {"rate_gbps", port.rate_gbps == 0 ? Json(nullptr) : Json(port.rate_gbps)},
          {"lid", port.lid},
          {"gids", std::move(gids)},
          {"pkeys", port.pkeys},
          {"firmware", text_or_null(port.firmware)},
          {"netdev", text_or_null(port.netdev)},
          {"driver", text_or_null(port.driver)},
          {"traffic_class", known_or_null(port.traffic_class)},
          {"numa_node", known_or_null(port.numa_node)},
          {"pci", text_or_null(port.pci)}};
}

Json fabric_gpu_json(const FabricGpu& gpu) {
  return {{"index", gpu.index},
          {"nvlink_peers", gpu.nvlink_peers},
          {"p2p_peers", gpu.p2p_peers},
          {"mig", gpu.mig},
          {"numa_node", known_or_null(gpu.numa_node)},
          {"pci", text_or_null(gpu.pci)}};
}

}  // namespace

Json to_json(const NodeFabric& fabric) {
  Json interfaces = Json::array(), ports = Json::array(), gpus = Json::array();
  for (const FabricInterface& one : fabric.interfaces)
    interfaces.push_back(fabric_interface_json(one));
  for (const FabricPort& port : fabric.ports) ports.push_back(fabric_port_json(port));
  for (const FabricGpu& gpu : fabric.gpus) gpus.push_back(fabric_gpu_json(gpu));
  Json numa = Json::array();
  for (const FabricNuma& one : fabric.numa)
    numa.push_back({{"node", one.node}, {"distances", one.distances}});
  return {{"interfaces", std::move(interfaces)},
          {"rdma_ports", std::move(ports)},
          {"rdma_device_files", fabric.has_infiniband_devices},
          {"gpus", std::move(gpus)},
          {"gpu_direct", fabric.gpu_direct},
          {"numa", std::move(numa)},
          {"nccl", text_or_null(fabric.nccl)},
          {"ucx", text_or_null(fabric.ucx)},
          {"rdma_core", text_or_null(fabric.verbs)},
          {"nvidia_driver", text_or_null(fabric.nvidia_driver)},
          {"memlock_bytes", known_or_null(fabric.memlock_bytes)},
          {"virtual_machine", fabric.virtual_machine}};
}

}  // namespace lockstep::api
