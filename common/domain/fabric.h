#pragma once
// The fabric of a node: its interfaces, RDMA ports and GPUs with the distances among them; what a
// probe found between the nodes of a gang; and the network settings that follow for its ranks.
// Plain values; agent/inventory/fabric fills the first, runner/fabric the others.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace lockstep {

struct FabricAddress {
  std::string address;  // without prefix length
  int prefix = 0;       // bits
  friend bool operator==(const FabricAddress&, const FabricAddress&) = default;
};

struct FabricInterface {
  std::string name;
  std::vector<FabricAddress> addresses;
  int mtu = 0;
  std::int64_t speed_mbps = -1;  // -1: unknown
  std::string driver;            // "mlx5_core", "veth", "bridge"; "": unknown
  bool is_virtual = false;       // has no device of its own: a bridge, veth, tun
  bool up = false, loopback = false, default_route = false;
  int numa_node = -1;
  std::string pci;  // path of its device below the root complex, "0000:00:01.0/0000:03:00.0"
  friend bool operator==(const FabricInterface&, const FabricInterface&) = default;
};

struct FabricGid {
  int index = 0;
  std::string gid;
  std::string type;  // "IB/RoCE v1", "RoCE v2"
  std::string netdev;
  friend bool operator==(const FabricGid&, const FabricGid&) = default;
};

struct FabricPort {
  std::string device;  // mlx5_0
  int port = 1;
  std::string state, link_layer;
  int rate_gbps = 0;
  int lid = 0;
  std::vector<FabricGid> gids;
  std::vector<int> pkeys;
  std::string firmware, netdev, pci;
  int numa_node = -1;
  bool active() const { return state == "ACTIVE"; }
  friend bool operator==(const FabricPort&, const FabricPort&) = default;
};

struct FabricGpu {
  int index = 0;
  std::string pci;
  int numa_node = -1;
  std::vector<int> nvlink_peers;  // indexes
  bool mig = false;
  friend bool operator==(const FabricGpu&, const FabricGpu&) = default;
};

struct NodeFabric {
  std::vector<FabricInterface> interfaces;
  std::vector<FabricPort> ports;
  std::vector<FabricGpu> gpus;
  std::string nccl, ucx, verbs, nvidia_driver;  // versions; "": not there
  bool has_infiniband_devices = false;          // /dev/infiniband/uverbs*
  std::int64_t memlock_bytes = -1;              // hard limit; -1: unlimited
  friend bool operator==(const NodeFabric&, const NodeFabric&) = default;
};
inline constexpr std::size_t kMaxFabricInterfaces = 64;
inline constexpr std::size_t kMaxFabricAddresses = 16;  // of one interface
inline constexpr std::size_t kMaxFabricGids = 64;       // of one port

// ---- the probe ----------------------------------------------------------------------------------
enum class PathTrouble { no_route, refused, timed_out, large_packets_lost };
std::string_view to_string(PathTrouble trouble);

// One node cannot reach another over one path.
struct PathFailure {
  int from = 0, to = 0;  // node ranks
  std::string from_address, from_interface, to_address;
  std::uint16_t port = 0;
  PathTrouble trouble = PathTrouble::timed_out;
  int mtu = 0;  // large_packets_lost: bytes of the largest packet that came through
  friend bool operator==(const PathFailure&, const PathFailure&) = default;
};
inline constexpr std::size_t kMaxPathFailures = 64;

// The interface that a node of the gang uses, and how well it reaches the others.
struct ChosenPath {
  int node_rank = 0;
  std::string interface, address;
  Duration round_trip{0};        // median to the others; zero: not measured
  std::int64_t speed_mbps = -1;  // of the burst; -1: not measured
  int mtu = 0;
  friend bool operator==(const ChosenPath&, const ChosenPath&) = default;
};

struct ProbeResult {
  std::vector<ChosenPath> chosen;       // by node rank; empty: there was no probe
  std::vector<PathFailure> failures;    // at most kMaxPathFailures
  bool cached = false;
  friend bool operator==(const ProbeResult&, const ProbeResult&) = default;
};

// ---- settings -----------------------------------------------------------------------------------
enum class SettingSource { user, operator_file, probe, fixed };
std::string_view to_string(SettingSource source);

// One variable of a rank's network, and why it has this value.
struct NetworkSetting {
  std::string name, value;
  SettingSource source = SettingSource::probe;
  std::string reason;   // "eth1 reaches all 3 other nodes at 94 Gbit/s"
  std::string warning;  // a setting that looks like a mistake; "": none
  friend bool operator==(const NetworkSetting&, const NetworkSetting&) = default;
};
using NetworkSettings = std::vector<NetworkSetting>;  // by name
inline constexpr std::size_t kMaxNetworkSettings = 64;

}  // namespace lockstep
