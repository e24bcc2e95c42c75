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
#include "common/base/time.h"
#include "common/domain/ranks/limits.h"
#include "common/domain/targets/fabric.h"
#include "common/domain/why/why.h"

namespace lockstep {

struct GpuDevice {
  int index = 0;     // in PCI order on the node
  std::string uuid;  // GPU-…; "" when the driver gives none
  std::string name;
  std::string pci_bus_id;  // 00000000:01:00.0
  Bytes memory;
  int numa_node = -1;  // -1 = unknown
  friend bool operator==(const GpuDevice&, const GpuDevice&) = default;
};

struct NetworkInterface {
  std::string name;
  std::vector<std::string> addresses;  // IPv4 and IPv6, without prefix length
  std::int64_t speed_mbps = -1;        // -1 = unknown
  bool up = false;
  bool loopback = false;
  friend bool operator==(const NetworkInterface&, const NetworkInterface&) = default;
};

// A port of an InfiniBand or RoCE device, as /sys/class/infiniband shows it.
struct RdmaPort {
  std::string device;  // mlx5_0
  int port = 1;
  std::string state;          // "ACTIVE", "DOWN", "INIT", "ARMED", …
  int rate_gbps = 0;          // 0: unknown
  std::string link_layer;     // "InfiniBand" or "Ethernet" (RoCE)
  std::string subnet_prefix;  // of its GID 0: "fe80:0000:0000:0000"; "": none
  std::vector<int> pkeys;     // partitions; the bit 0x8000 says that it is a full member
  bool active() const { return state == "ACTIVE"; }
  friend bool operator==(const RdmaPort&, const RdmaPort&) = default;
};
inline constexpr std::size_t kMaxRdmaPorts = 128;  // of one node
inline constexpr std::size_t kMaxPkeys = 128;      // of one port

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
  Bytes disk_free;  // of the file system that holds the attempts
  std::vector<GpuDevice> gpus;
  std::vector<NetworkInterface> interfaces;
  std::string address;  // of the route to the launcher, or --advertise
  bool address_is_loopback = false;
  std::string host_id;                   // equal for nodes of one host and network namespace
  std::string network;                   // label; a gang stays within one. Default: the target
  std::string user;                      // the agent's user; only root can run jobs as others
  std::string isolation;                 // cgroup-v2 | cgroup-v1 | pid-namespace | subreaper
  std::string workdir_mode;              // overlay | overlay-userns | reflink | copy
  std::vector<std::string> limitations;  // what this node cannot do, in words
  LimitCaps caps = {};
  // The limits of jobs that this node cannot enforce ("memory", "pids"), and why. Absent: the agent
  // does not report it.
  std::optional<std::map<std::string, std::string>> unenforced = {};
  // The container engine on the agent's PATH: "docker", "podman"; "": none. Absent: the agent does
  // not report it.
  std::optional<std::string> container_engine = {};
  std::vector<RdmaPort> rdma_ports = {};
  std::optional<NodeFabric> fabric = {};  // absent: the agent does not report it
  friend bool operator==(const Inventory&, const Inventory&) = default;
};

// What happened to a node, as `lockstep node show --history` lists it.
struct NodeEvent {
  Instant at;
  std::string what;          // one word: "Joined", "Lost", "Returned", …
  Why why = {};              // none: the word says all
  std::string message = {};  // `why` in words, in views; at most kMaxNodeEventBytes
  friend bool operator==(const NodeEvent&, const NodeEvent&) = default;
};
inline constexpr std::size_t kMaxNodeEvents = 50;       // that are kept of one node
inline constexpr std::size_t kMaxNodeEventBytes = 300;  // of a message, and of a text of a user

enum class Liveness { alive, unknown, lost };
std::string_view to_string(Liveness liveness);
constexpr Liveness last_enumerator(Liveness) { return Liveness::lost; }

}  // namespace lockstep
