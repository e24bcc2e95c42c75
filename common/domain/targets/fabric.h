#pragma once
// The fabric of a node: its interfaces, RDMA ports and GPUs with the distances among them; what a
// probe found between the nodes of a gang; and the network settings that follow for its ranks.
// Plain values; agent/inventory/fabric fills the first, runner/fabric the others.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/ranks/bounds.h"

namespace lockstep {

inline constexpr std::size_t kMaxFabricInterfaces = 64;
inline constexpr std::size_t kMaxFabricAddresses = 16;  // the most addresses of one interface
inline constexpr std::size_t kMaxFabricPorts = 128;
inline constexpr std::size_t kMaxFabricGids = 64;    // the most GIDs of one port
inline constexpr std::size_t kMaxFabricPkeys = 128;  // the most partition keys of one port
inline constexpr std::size_t kMaxFabricGpus = 64;
inline constexpr std::size_t kMaxFabricNuma = 64;
inline constexpr std::size_t kMaxFabricTextBytes = 256;  // the longest text of a fabric

// Texts and numbers that a node measures are cut, so that no value of its kernel makes its message
// invalid: `ip link set lo mtu 2147483647` is allowed.
inline constexpr Rule kFabricText{.bytes = kMaxFabricTextBytes, .cut = Cut::end};
inline constexpr Rule kFabricPci{.bytes = 1'024, .cut = Cut::end};  // a path through some bridges
// the range of MTUs, rates, …
inline constexpr Rule kFabricNumber{.low = 0, .high = 1 << 20, .cut = Cut::end};
inline constexpr Rule kFabricSpeed{.low = -1, .cut = Cut::end};
inline constexpr Rule kFabricNumaNode{.low = -1, .high = 1 << 16, .cut = Cut::end};
constexpr Rule fabric_list(std::size_t most) { return {.count = most, .cut = Cut::end}; }
constexpr Rule fabric_numbers(std::size_t most, int high = 1 << 20) {
  return {.low = 0, .high = high, .count = most, .cut = Cut::end};
}

struct FabricAddress {
  std::string address;  // the address without prefix length
  int prefix = 0;       // bits
  static void table(auto& s, auto&& see) {
    see(field<1>, "address", s.address, kFabricText);
    see(field<2>, "prefix", s.prefix, {.low = 0, .high = 128});
  }
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
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kFabricText);
    see(field<2>, "addresses", s.addresses, fabric_list(kMaxFabricAddresses));
    see(field<3>, "mtu", s.mtu, kFabricNumber);
    see(field<4>, "speed_mbps", s.speed_mbps, kFabricSpeed);
    see(field<5>, "driver", s.driver, kFabricText);
    see(field<6>, "is_virtual", s.is_virtual);
    see(field<7>, "up", s.up);
    see(field<8>, "loopback", s.loopback);
    see(field<9>, "default_route", s.default_route);
    see(field<10>, "numa_node", s.numa_node, kFabricNumaNode);
    see(field<11>, "pci", s.pci, kFabricPci);
  }
  friend bool operator==(const FabricInterface&, const FabricInterface&) = default;
};

struct FabricGid {
  int index = 0;
  std::string gid;
  std::string type;  // "IB/RoCE v1", "RoCE v2"
  std::string netdev;
  static void table(auto& s, auto&& see) {
    see(field<1>, "index", s.index, kFabricNumber);
    see(field<2>, "gid", s.gid, kFabricText);
    see(field<3>, "type", s.type, kFabricText);
    see(field<4>, "netdev", s.netdev, kFabricText);
  }
  friend bool operator==(const FabricGid&, const FabricGid&) = default;
};

struct FabricPort {
  std::string device;  // mlx5_0
  int port = 1;
  std::string state, link_layer;
  int rate_gbps = 0;
  int lid = 0;
  std::vector<FabricGid> gids;
  std::vector<int> pkeys;  // by index; 0: no partition at this index
  std::string firmware, netdev, pci;
  int numa_node = -1;
  std::string driver;      // "mlx5_core"; "": it has no device of its own (soft-RoCE, soft-iWARP)
  int traffic_class = -1;  // the class that the machine's administrator set for RDMA; -1: none
  bool active() const { return state == "ACTIVE"; }
  static void table(auto& s, auto&& see) {
    see(field<1>, "device", s.device, kFabricText);
    see(field<2>, "port", s.port, {.low = 0, .high = 255});
    see(field<3>, "state", s.state, kFabricText);
    see(field<4>, "link_layer", s.link_layer, kFabricText);
    see(field<5>, "rate_gbps", s.rate_gbps, kFabricNumber);
    see(field<6>, "lid", s.lid, kFabricNumber);
    see(field<7>, "gids", s.gids, fabric_list(kMaxFabricGids));
    see(field<8>, "pkeys", s.pkeys, fabric_numbers(kMaxFabricPkeys, 0xffff));
    see(field<9>, "firmware", s.firmware, kFabricText);
    see(field<10>, "netdev", s.netdev, kFabricText);
    see(field<11>, "pci", s.pci, kFabricPci);
    see(field<12>, "numa_node", s.numa_node, kFabricNumaNode);
    see(field<13>, "driver", s.driver, kFabricText);
    see(field<14>, "traffic_class", s.traffic_class, {.low = 0, .high = 255, .none = -1});
  }
  friend bool operator==(const FabricPort&, const FabricPort&) = default;
};

struct FabricGpu {
  int index = 0;
  std::string pci;
  int numa_node = -1;
  std::vector<int> nvlink_peers;  // the indexes of GPUs that it reaches, also through an NVSwitch
  bool mig = false;
  std::vector<int> p2p_peers;  // indexes of GPUs that read its memory directly
  static void table(auto& s, auto&& see) {
    see(field<1>, "index", s.index, kFabricNumber);
    see(field<2>, "pci", s.pci, kFabricPci);
    see(field<3>, "numa_node", s.numa_node, kFabricNumaNode);
    see(field<4>, "nvlink_peers", s.nvlink_peers, fabric_numbers(kMaxFabricGpus));
    see(field<5>, "mig", s.mig);
    see(field<6>, "p2p_peers", s.p2p_peers, fabric_numbers(kMaxFabricGpus));
  }
  friend bool operator==(const FabricGpu&, const FabricGpu&) = default;
};

// The distances of a NUMA node to the others, in the order of NodeFabric::numa; 10 is its own.
struct FabricNuma {
  int node = 0;
  std::vector<int> distances;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node, {.low = 0, .high = 1 << 16});
    see(field<2>, "distances", s.distances, fabric_numbers(kMaxFabricNuma));
  }
  friend bool operator==(const FabricNuma&, const FabricNuma&) = default;
};

struct NodeFabric {
  std::vector<FabricInterface> interfaces;
  std::vector<FabricPort> ports;
  std::vector<FabricGpu> gpus;
  std::string nccl, ucx, verbs, nvidia_driver;  // versions; "": not there
  bool has_infiniband_devices = false;          // /dev/infiniband/uverbs*
  std::int64_t memlock_bytes = -1;              // hard limit; -1: unlimited
  std::vector<FabricNuma> numa;
  bool gpu_direct = false;       // a module lets RDMA devices read GPU memory (nvidia_peermem)
  bool virtual_machine = false;  // the machine runs under a hypervisor
  static void table(auto& s, auto&& see) {
    see(field<1>, "interfaces", s.interfaces, fabric_list(kMaxFabricInterfaces));
    see(field<2>, "ports", s.ports, fabric_list(kMaxFabricPorts));
    see(field<3>, "gpus", s.gpus, fabric_list(kMaxFabricGpus));
    see(field<4>, "nccl", s.nccl, kFabricText);
    see(field<5>, "ucx", s.ucx, kFabricText);
    see(field<6>, "verbs", s.verbs, kFabricText);
    see(field<7>, "nvidia_driver", s.nvidia_driver, kFabricText);
    see(field<8>, "has_infiniband_devices", s.has_infiniband_devices);
    see(field<9>, "memlock", s.memlock_bytes, kFabricSpeed);
    see(field<10>, "numa", s.numa, fabric_list(kMaxFabricNuma));
    see(field<11>, "gpu_direct", s.gpu_direct);
    see(field<12>, "virtual_machine", s.virtual_machine);
  }
  friend bool operator==(const NodeFabric&, const NodeFabric&) = default;
};
// The RDMA fabric that all nodes of a gang are in, by their inventories.
struct GangFabric {
  std::string link_layer;  // "InfiniBand" or "Ethernet" (RoCE); "": they are in no common one
  std::string subnet;      // "fe80:0000:0000:0000"
  int pkey = -1;           // the partition, without the bit of full membership; -1: unknown
  bool shared() const { return !link_layer.empty(); }
  static void table(auto& s, auto&& see) {
    see(field<1>, "link_layer", s.link_layer, kFabricText);
    see(field<2>, "subnet", s.subnet, kFabricText);
    see(field<3>, "pkey", s.pkey, {.low = 0, .high = 0x7fff, .none = -1});
  }
  friend bool operator==(const GangFabric&, const GangFabric&) = default;
};

// ---- the probe ----------------------------------------------------------------------------------
enum class PathTrouble { no_route, refused, timed_out, large_packets_lost };
Word describe(PathTrouble trouble);
std::string_view to_string(PathTrouble trouble);
constexpr PathTrouble last_enumerator(PathTrouble) { return PathTrouble::large_packets_lost; }

inline constexpr std::size_t kMaxPathFailures = 64;

// A path over which one node cannot reach another.
struct PathFailure {
  int from = 0, to = 0;  // node ranks
  std::string from_address, from_interface, to_address;
  std::uint16_t port = 0;
  PathTrouble trouble = PathTrouble::timed_out;
  int mtu = 0;  // large_packets_lost: bytes of the largest packet that came through
  template <class Self, class See>
  static void fields(Self& self, See&& see) {  // the fields of a reason: common/domain/why
    see("from", self.from);
    see("to", self.to);
    see("from_address", self.from_address);
    see("from_interface", self.from_interface);
    see("to_address", self.to_address);
    see("port", self.port);
    see("trouble", self.trouble);
    see("mtu_bytes", self.mtu);
  }
  static void table(auto& s, auto&& see) {
    see(field<1>, "from", s.from, kNodeRankRule);
    see(field<2>, "to", s.to, kNodeRankRule);
    see(field<3>, "from_address", s.from_address, kFabricText);
    see(field<4>, "from_interface", s.from_interface, kFabricText);
    see(field<5>, "to_address", s.to_address, kFabricText);
    see(field<6>, "port", s.port);
    see(field<7>, "trouble", s.trouble);
    see(field<8>, "mtu", s.mtu, kFabricNumber);
  }
  friend bool operator==(const PathFailure&, const PathFailure&) = default;
};

// The interface that a node of the gang uses, and how well it reaches the others.
struct ChosenPath {
  int node_rank = 0;
  std::string interface, address;
  Duration round_trip{0};        // median to the others; zero: not measured
  std::int64_t speed_mbps = -1;  // the speed of the burst; -1: not measured
  int mtu = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<2>, "interface", s.interface, kFabricText);
    see(field<3>, "address", s.address, kFabricText);
    see(field<4>, "round_trip", s.round_trip);
    see(field<5>, "speed_mbps", s.speed_mbps, kFabricSpeed);
    see(field<6>, "mtu", s.mtu, kFabricNumber);
  }
  friend bool operator==(const ChosenPath&, const ChosenPath&) = default;
};

struct ProbeResult {
  std::vector<ChosenPath> chosen;     // the chosen paths, by node rank; empty: there was no probe
  std::vector<PathFailure> failures;  // the failures, at most kMaxPathFailures
  bool cached = false;
  // The number of failures, at the beginning of the list, on addresses that the nodes would use:
  // the gang's start ended because of them. The others concern networks that are not used.
  int broken = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "chosen", s.chosen, fabric_list(kMaxNodesPerJob));
    see(field<2>, "failures", s.failures, fabric_list(kMaxPathFailures));
    see(field<3>, "cached", s.cached);
    see(by_hand<700>, "broken", s.broken);
  }
  friend bool operator==(const ProbeResult&, const ProbeResult&) = default;
};

// ---- settings -----------------------------------------------------------------------------------
enum class SettingSource { user, operator_file, probe, fixed };
Word describe(SettingSource source);
std::string_view to_string(SettingSource source);
constexpr SettingSource last_enumerator(SettingSource) { return SettingSource::fixed; }

inline constexpr std::size_t kMaxSettingNameBytes = 256;
inline constexpr std::size_t kMaxSettingTextBytes = 1'024;  // the longest value, reason or warning
inline constexpr Rule kSettingName{.bytes = kMaxSettingNameBytes, .cut = Cut::end};
inline constexpr Rule kSettingText{.bytes = kMaxSettingTextBytes, .cut = Cut::end};

// A variable of a rank's network, and why it has this value.
struct NetworkSetting {
  std::string name, value;
  SettingSource source = SettingSource::probe;
  std::string reason;   // "eth1 reaches all 3 other nodes at 94 Gbit/s"
  std::string warning;  // a setting that looks like a mistake; "": none
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kSettingName);
    see(field<2>, "value", s.value, kSettingText);
    see(field<3>, "source", s.source);
    see(field<4>, "reason", s.reason, kSettingText);
    see(field<5>, "warning", s.warning, kSettingText);
  }
  friend bool operator==(const NetworkSetting&, const NetworkSetting&) = default;
};
using NetworkSettings = std::vector<NetworkSetting>;  // The settings by name.
inline constexpr std::size_t kMaxNetworkSettings = 128;

// Whether a variable steers how ranks reach each other: NCCL_…, UCX_…, OMPI_MCA_…, GLOO_…, FI_….
bool is_network_variable(std::string_view name);

// The limit of locked memory stands among the variables, since RDMA fails without it.
inline constexpr std::string_view kMemlockSetting = "ulimit -l";

// The settings of a node's first rank hold for its others, but for these: `setting` replaces the
// one of its name for `local_ranks`.
struct SettingOverride {
  NetworkSetting setting;
  std::vector<int> local_ranks;  // sorted
  static void table(auto& s, auto&& see) {
    see(field<1>, "setting", s.setting);
    see(field<2>, "local_ranks", s.local_ranks,
        fabric_numbers(kMaxRanksPerNode, kMaxRanksPerNode - 1));
  }
  friend bool operator==(const SettingOverride&, const SettingOverride&) = default;
};
using SettingOverrides = std::vector<SettingOverride>;
inline constexpr std::size_t kMaxSettingOverrides = 256;

// ---- the operator's fabric.yml, as it applies to one node ---------------------------------------
// The launcher picks the rules that match a node's target, size and labels; the node picks the
// interface, because it alone knows which it has.

inline constexpr std::size_t kMaxOperatorVariables = 64;
inline constexpr std::size_t kMaxOperatorNames = 64;  // the most interfaces, networks or ports
inline constexpr Rule kOperatorNames{
    .bytes = kMaxFabricTextBytes, .count = kMaxOperatorNames, .cut = Cut::end};
struct OperatorVariable {
  std::string name, value;
  std::string rule;  // "fabric.yml:12"
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kSettingName);
    see(field<2>, "value", s.value, kSettingText);
    see(field<3>, "rule", s.rule, kFabricText);
  }
  friend bool operator==(const OperatorVariable&, const OperatorVariable&) = default;
};
// The ranks use the first of `names` that the node has, or an interface with an address in
// `networks`.
struct OperatorInterface {
  std::vector<std::string> names;
  std::vector<std::string> networks;  // "10.1.0.0/16"
  std::string rule;
  static void table(auto& s, auto&& see) {
    see(field<1>, "names", s.names, kOperatorNames);
    see(field<2>, "networks", s.networks, kOperatorNames);
    see(field<3>, "rule", s.rule, kFabricText);
  }
  friend bool operator==(const OperatorInterface&, const OperatorInterface&) = default;
};
// The RDMA ports that ranks may use. Empty: no port.
struct OperatorRdma {
  std::vector<std::string> ports;  // "mlx5_0", "mlx5_0:1"
  std::string rule;
  static void table(auto& s, auto&& see) {
    see(field<1>, "ports", s.ports, kOperatorNames);
    see(field<2>, "rule", s.rule, kFabricText);
  }
  friend bool operator==(const OperatorRdma&, const OperatorRdma&) = default;
};
struct OperatorSettings {
  std::vector<OperatorVariable> variables;  // the variables, by name
  std::optional<OperatorInterface> interface = {};
  std::optional<OperatorRdma> rdma = {};
  std::string trouble = {};  // why the file does not count, for users; "": it does
  bool empty() const { return variables.empty() && !interface && !rdma && trouble.empty(); }
  static void table(auto& s, auto&& see) {
    see(field<1>, "variables", s.variables, fabric_list(kMaxOperatorVariables));
    see(field<2>, "interface", s.interface);
    see(field<3>, "rdma", s.rdma);
    see(field<4>, "trouble", s.trouble, kFabricText);
  }
  friend bool operator==(const OperatorSettings&, const OperatorSettings&) = default;
};

}  // namespace lockstep
