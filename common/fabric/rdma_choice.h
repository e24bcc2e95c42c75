#pragma once
// Chooses the RDMA ports of a node's ranks for traffic between nodes, and gives the reason. A port
// must be active, in the fabric that all nodes of the gang share, and allowed by the operator. A
// RoCE port needs a GID of an IP address: a virtual machine's accelerated network has none, and
// carries no RDMA among machines. Of the remaining ports the fastest are taken and, where GPUs are
// held, the ports nearest to one. Pure.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/targets/fabric.h"
#include "common/fabric/nearness.h"

namespace lockstep {

struct RdmaChoice {
  PortList ports = {};          // in the order of the fabric; empty: the ranks use no RDMA
  std::string why = {};         // a reason for the one or the other, in words
  bool by_operator = false;     // true: fabric.yml decided
  bool would_be_taken = false;  // no port is used, but libraries would take active ports by
                                // themselves
};

// Chooses the ports. `gang`: absent: only the node's own ports are known. `gpus`: indexes of the
// GPUs that ranks hold.
RdmaChoice choose_rdma(const NodeFabric& fabric, const OperatorSettings& operators,
                       const std::optional<GangFabric>& gang, const std::vector<int>& gpus);

std::string name_of(const FabricPort& port);  // "mlx5_0:1"
std::string names_of(const PortList& ports);  // "mlx5_0:1,mlx5_1:1"
bool is_roce(const FabricPort& port);         // Whether a port is RoCE; false: InfiniBand.
// The GID by which routers reach a RoCE port: RoCE v2 of an IPv4 address, else of an IPv6 one.
// Null: the port has none.
const FabricGid* routable_gid(const FabricPort& port);
// The RoCE v2 GID of the link's own IPv6 address, which routers do not pass on. Null: the port has
// none.
const FabricGid* link_local_gid(const FabricPort& port);
bool is_software(const FabricPort& port);  // soft-RoCE: a protocol of the kernel over any interface
// The place of this partition in the port's table; -1: it is not there with full membership.
int pkey_index(const FabricPort& port, int pkey);

inline constexpr int kFullMember = 0x8000;
inline constexpr int kDefaultPartition = 0x7fff;

}  // namespace lockstep
