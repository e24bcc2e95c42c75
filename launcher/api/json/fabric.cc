#include "launcher/api/json/fabric.h"

namespace lockstep::api {

void keys(const FabricAddress& address, See& see) {
  see("address", address.address, "Without prefix length.");
  see("prefix", address.prefix, "Bits of its network.");
}

void keys(const FabricInterface& one, See& see) {
  see("name", one.name, "Its name.");
  see("addresses", one.addresses, "Its IP addresses.");
  see("mtu", one.mtu, "Bytes of the largest packet.");
  see("speed_mbps", unless_negative(one.speed_mbps), "Megabits a second; null: not known.");
  see("driver", unless_empty(one.driver),
      "Its driver, or the kind of a virtual one (veth, bridge); null: not known.");
  see("virtual", one.is_virtual, "It has no device of its own, and stands on none.");
  see("up", one.up, "It is up and has a carrier.");
  see("loopback", one.loopback, "It is the loopback.");
  see("default_route", one.default_route, "A default route leaves by it.");
  see("numa_node", unless_negative(one.numa_node), "Of its device; null: not known.");
  see("pci", unless_empty(one.pci),
      "Path of its device below the root complex; null: it is not on PCI.");
}

void keys(const FabricGid& gid, See& see) {
  see("index", gid.index, "Its place in the table: NCCL_IB_GID_INDEX.");
  see("gid", gid.gid, "The GID.");
  see("type", unless_empty(gid.type), "IB/RoCE v1 or RoCE v2; null: not known.");
  see("netdev", unless_empty(gid.netdev), "Its interface; null: none.");
}

void keys(const FabricPort& port, See& see) {
  see("device", port.device, "The device, such as mlx5_0.");
  see("port", port.port, "The port's number.");
  see("state", port.state, "As the kernel has it: ACTIVE, DOWN, INIT, ….");
  see("link_layer", port.link_layer, "InfiniBand, or Ethernet for RoCE.");
  see("rate_gbps", unless_zero(port.rate_gbps), "Gigabits a second; null: not known.");
  see("lid", port.lid, "Its address in an InfiniBand subnet; 0: none.");
  see("gids", port.gids, "Its GIDs that are set, at most 64.");
  see("pkeys", port.pkeys,
      "Partitions by place; 0: none there. The bit 0x8000 says that it is a full member.");
  see("firmware", unless_empty(port.firmware), "Version of its firmware; null: not known.");
  see("netdev", unless_empty(port.netdev), "Its interface; null: none.");
  see("driver", unless_empty(port.driver), "Its driver; null: it has no hardware (soft-RoCE).");
  see("traffic_class", unless_negative(port.traffic_class),
      "That its administrator set for RDMA; null: none.");
  see("numa_node", unless_negative(port.numa_node), "Null: not known.");
  see("pci", unless_empty(port.pci),
      "Path of its device below the root complex; null: it is not on PCI.");
}

void keys(const FabricGpu& gpu, See& see) {
  see("index", gpu.index, "Its number, in the order of the PCI bus.");
  see("nvlink_peers", gpu.nvlink_peers, "GPUs that it reaches by NVLink.");
  see("p2p_peers", gpu.p2p_peers, "GPUs that read its memory directly.");
  see("mig", gpu.mig, "It is in MIG mode.");
  see("numa_node", unless_negative(gpu.numa_node), "Null: not known.");
  see("pci", unless_empty(gpu.pci), "Path below the root complex; null: not known.");
}

void keys(const FabricNuma& numa, See& see) {
  see("node", numa.node, "Its number.");
  see("distances", numa.distances, "To each of them, in their order; 10 is its own.");
}

void keys(const NodeFabric& fabric, See& see) {
  see("interfaces", fabric.interfaces,
      "Its interfaces; of virtual ones those with an address that others reach.");
  see("rdma_ports", fabric.ports, "Ports of its InfiniBand and RoCE devices.");
  see("rdma_device_files", fabric.has_infiniband_devices,
      "There is a /dev/infiniband/uverbs*, which programs need.");
  see("gpus", fabric.gpus, "The GPUs that it offers.");
  see("gpu_direct", fabric.gpu_direct, "A module lets RDMA devices read GPU memory.");
  see("numa", fabric.numa, "Its NUMA nodes.");
  see("nccl", unless_empty(fabric.nccl),
      "Version of the system's NCCL; unknown: it does not say; null: none.");
  see("ucx", unless_empty(fabric.ucx), "The same of UCX.");
  see("rdma_core", unless_empty(fabric.verbs), "The same of rdma-core, which has libibverbs.");
  see("nvidia_driver", unless_empty(fabric.nvidia_driver),
      "Version of the NVIDIA driver; null: none is loaded.");
  see("memlock_bytes", unless_negative(fabric.memlock_bytes),
      "How much memory a rank may lock; null: all.");
  see("virtual_machine", fabric.virtual_machine, "It runs under a hypervisor.");
}

}  // namespace lockstep::api
