#pragma once
// A node's inventory, as its agent measured it, and its liveness, as the launcher sees it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/ranks/limits.h"
#include "common/domain/targets/fabric.h"
#include "common/domain/why/why.h"

namespace lockstep {

inline constexpr std::size_t kMaxGpuDevices = 1'024;
inline constexpr std::size_t kMaxNetworkInterfaces = 4'096;
inline constexpr std::size_t kMaxRdmaPorts = 128;  // the most RDMA ports of one node
inline constexpr std::size_t kMaxPkeys = 128;      // the most partition keys of one port
inline constexpr Rule kRdmaText{.bytes = 256};
inline constexpr Rule kNodeIndex{.low = 0, .high = 1 << 16};  // the largest index of a GPU, NUMA
                                                              // node or socket
// Numbers of cpus or GPUs.
inline constexpr Rule kDeviceIds{.low = 0, .high = 1 << 20, .count = 1 << 20};

struct GpuDevice {
  int index = 0;     // the index in PCI order on the node
  std::string uuid;  // GPU-…; "" when the driver gives none
  std::string name;
  std::string pci_bus_id;  // 00000000:01:00.0
  Bytes memory;
  int numa_node = -1;  // -1 = unknown
  static void table(auto& s, auto&& see) {
    see(field<1>, "index", s.index, kNodeIndex);
    see(field<2>, "uuid", s.uuid);
    see(field<3>, "name", s.name);
    see(field<4>, "pci_bus_id", s.pci_bus_id);
    see(field<5>, "memory", s.memory);
    see(field<6>, "numa_node", s.numa_node, {.low = -1, .high = 1 << 16});
  }
  friend bool operator==(const GpuDevice&, const GpuDevice&) = default;
};

struct NetworkInterface {
  std::string name;
  std::vector<std::string> addresses;  // IPv4 and IPv6, without prefix length
  std::int64_t speed_mbps = -1;        // -1 = unknown
  bool up = false;
  bool loopback = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "addresses", s.addresses, {.count = kMaxNetworkInterfaces});
    see(field<3>, "speed_mbps", s.speed_mbps, {.low = -1});
    see(field<4>, "up", s.up);
    see(field<5>, "loopback", s.loopback);
  }
  friend bool operator==(const NetworkInterface&, const NetworkInterface&) = default;
};

// A port of an InfiniBand or RoCE device, as /sys/class/infiniband shows it.
struct RdmaPort {
  std::string device;  // mlx5_0
  int port = 1;
  std::string state;          // "ACTIVE", "DOWN", "INIT", "ARMED", …
  int rate_gbps = 0;          // 0: unknown
  std::string link_layer;     // "InfiniBand" or "Ethernet" (RoCE)
  std::string subnet_prefix;  // the prefix of its GID 0: "fe80:0000:0000:0000"; "": none
  std::vector<int> pkeys;     // partitions; the bit 0x8000 marks a full member
  bool active() const { return state == "ACTIVE"; }
  static void table(auto& s, auto&& see) {
    see(field<1>, "device", s.device, kRdmaText);
    see(field<2>, "port", s.port, {.low = 0, .high = 255});
    see(field<3>, "state", s.state, kRdmaText);
    see(field<4>, "rate_gbps", s.rate_gbps, {.low = 0, .high = 1 << 20});
    see(field<5>, "link_layer", s.link_layer, kRdmaText);
    see(field<6>, "subnet_prefix", s.subnet_prefix, kRdmaText);
    see(field<7>, "pkeys", s.pkeys, {.low = 0, .high = 0xffff, .count = kMaxPkeys});
  }
  friend bool operator==(const RdmaPort&, const RdmaPort&) = default;
};

struct Inventory {
  std::string hostname;
  std::string os;  // PRETTY_NAME
  std::string kernel;
  std::string architecture;  // x86_64
  std::string glibc;         // version of the C library, "2.36"; "" = unknown
  std::string cuda;          // newest CUDA that the driver runs, "12.4"; "" = none
  std::vector<int> cpus;     // logical cpu ids that it offers (a local node may offer only some)
  int sockets = 1;
  int numa_nodes = 1;
  Bytes memory;     // this node's share
  Bytes disk_free;  // the free space of the file system that holds the attempts
  std::vector<GpuDevice> gpus;
  std::vector<NetworkInterface> interfaces;
  std::string address;  // the address of the route to the launcher, or --advertise
  bool address_is_loopback = false;
  std::string host_id;       // equal for nodes of one host and network namespace
  std::string network;       // the network's label; a gang stays within one. Default: the target
  std::string user;          // the agent's user; only root can run jobs as others
  std::string isolation;     // cgroup-v2 | cgroup-v1 | pid-namespace | subreaper
  std::string workdir_mode;  // overlay | overlay-userns | reflink | copy
  std::vector<std::string> limitations;  // the things that this node cannot do, in words
  LimitCaps caps = {};
  // The limits of jobs that this node cannot enforce ("memory", "pids"), and why. Absent: the agent
  // does not report it.
  std::optional<std::map<std::string, std::string>> unenforced = {};
  // The container engine on the agent's PATH: "docker", "podman"; "": none. Absent: the agent does
  // not report it.
  std::optional<std::string> container_engine = {};
  std::vector<RdmaPort> rdma_ports = {};
  std::optional<NodeFabric> fabric = {};  // absent: the agent does not report it
  static void table(auto& s, auto&& see) {
    see(field<1>, "hostname", s.hostname);
    see(field<2>, "os", s.os);
    see(field<3>, "kernel", s.kernel);
    see(field<4>, "architecture", s.architecture);
    see(field<5>, "cpus", s.cpus, kDeviceIds);
    see(field<6>, "sockets", s.sockets, kNodeIndex);
    see(field<7>, "numa_nodes", s.numa_nodes, kNodeIndex);
    see(field<8>, "memory", s.memory);
    see(field<9>, "disk_free", s.disk_free);
    see(field<10>, "gpus", s.gpus, {.count = kMaxGpuDevices});
    see(field<11>, "interfaces", s.interfaces, {.count = kMaxNetworkInterfaces});
    see(field<12>, "address", s.address);
    see(field<13>, "address_is_loopback", s.address_is_loopback);
    see(field<14>, "host_id", s.host_id);
    see(field<15>, "network", s.network);
    see(field<16>, "user", s.user);
    see(field<17>, "isolation", s.isolation);
    see(field<18>, "workdir_mode", s.workdir_mode);
    see(field<19>, "limitations", s.limitations, {.count = 1'000});
    see(field<20>, "glibc", s.glibc);
    see(field<21>, "cuda", s.cuda);
    see(field<40>, "caps", s.caps);
    see(field<41>, "container_engine", s.container_engine);
    see(field<60>, "rdma_ports", s.rdma_ports, {.count = kMaxRdmaPorts});
    see(field<128>, "unenforced", s.unenforced, {.bytes = 64 << 10, .count = 16, .doubles = true});
    see(field<700>, "fabric", s.fabric);
  }
  friend bool operator==(const Inventory&, const Inventory&) = default;
};

// Something that happened to a node, as `lockstep node show --history` lists it.
struct NodeEvent {
  Instant at;
  std::string what;          // the event in one word: "Joined", "Lost", "Returned", …
  Why why = {};              // none: the word tells everything
  std::string message = {};  // `why` in words, in views; at most kMaxNodeEventBytes
  static void table(auto& s, auto&& see) {
    see(field<1>, "at", s.at);
    see(field<2>, "what", s.what);
    see(field<3>, "message", s.message, kCutText);
    see(field<800>, "why_data", s.why);
  }
  static void mend(NodeEvent& s) {  // earlier versions sent the text alone
    if (!s.why) s.why = told(s.message);
  }
  friend bool operator==(const NodeEvent&, const NodeEvent&) = default;
};
inline constexpr std::size_t kMaxNodeEvents = 50;       // the most events that are kept per node
inline constexpr std::size_t kMaxNodeEventBytes = 300;  // the longest message, and the longest text
                                                        // of a user

enum class Liveness { alive, unknown, lost };
Word describe(Liveness liveness);
std::string_view to_string(Liveness liveness);
constexpr Liveness last_enumerator(Liveness) { return Liveness::lost; }

}  // namespace lockstep
