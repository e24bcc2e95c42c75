#include "runner/fabric/rdma_obstacle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/cut.h"
#include "common/base/printable.h"
#include "common/fabric/rdma_choice.h"

namespace lockstep::runner {
namespace {

using Ports = std::vector<const FabricPort*>;

constexpr std::size_t kMostPortsNamed = 4;
constexpr std::size_t kMostWordBytes = 64;

// Whether a port is a full member of the partition, as in launcher/core/placement/rdma_fabric.h:
// limited members of a partition do not reach each other.
bool is_in_partition(const FabricPort& port) {
  return port.pkeys.empty() || std::any_of(port.pkeys.begin(), port.pkeys.end(),
                                           [](int pkey) { return (pkey & kFullMember) != 0; });
}

std::string states_of(const NodeFabric& fabric) {
  std::vector<std::string> states;
  for (const FabricPort& port : fabric.ports)
    if (states.size() < kMostPortsNamed)
      states.push_back(fmt::format("{}:{} is {}", port.device, port.port, port.state));
  return fmt::format("{}", fmt::join(states, ", "));
}

std::string with_interfaces(const Ports& ports) {
  std::vector<std::string> names;
  for (const FabricPort* port : ports)
    if (names.size() < kMostPortsNamed)
      names.push_back(port->netdev.empty()
                          ? fmt::format("{}:{}", port->device, port->port)
                          : fmt::format("{}:{} of {}", port->device, port->port, port->netdev));
  return fmt::format("{}", fmt::join(names, ", "));
}

struct Word {
  std::string shown;  // the setting as NAME=VALUE
  long value = 0;
};
// The number to which the job sets this variable; nullopt: the job does not set it.
std::optional<Word> number_of(const RdmaRequest& request, const char* name) {
  const auto found = request.variables.find(name);
  if (found == request.variables.end() || found->second.empty()) return std::nullopt;
  char* end = nullptr;
  const long value = std::strtol(found->second.c_str(), &end, 0);
  if (*end != '\0') return std::nullopt;  // the value is not a number, such as "auto"
  return Word{fmt::format("{}={}", name, cut(in_one_line(found->second), kMostWordBytes)), value};
}

bool has_gid_index(const FabricPort& port, long index) {
  return std::any_of(port.gids.begin(), port.gids.end(),
                     [&](const FabricGid& gid) { return gid.index == index; });
}

// Finds a wrong GID index. With a negative index the library chooses. A port with as many GIDs as
// the list can hold may have more.
std::optional<RdmaIsLacking> wrong_gid(const Ports& active, const RdmaRequest& request) {
  for (const char* name : {"NCCL_IB_GID_INDEX", "UCX_IB_GID_INDEX"}) {
    const auto word = number_of(request, name);
    if (!word || word->value < 0) continue;
    const bool may_be_there =
        std::any_of(active.begin(), active.end(), [&](const FabricPort* port) {
          return port->gids.empty() || port->gids.size() >= kMaxFabricGids ||
                 has_gid_index(*port, word->value);
        });
    if (!may_be_there) return RdmaIsLacking{RdmaLack::wrong_gid, word->shown, {}};
  }
  return std::nullopt;
}

// Whether an active InfiniBand port may have it. A port without a table may have any.
template <typename Has>
bool may_have_partition(const Ports& active, const Has& has) {
  return std::any_of(active.begin(), active.end(), [&](const FabricPort* port) {
    return is_roce(*port) || port->pkeys.empty() || has(port->pkeys);
  });
}

// Finds a wrong partition. UCX's value is the partition's key; NCCL's is an index into the port's
// table.
std::optional<RdmaIsLacking> wrong_pkey(const Ports& active, const RdmaRequest& request) {
  const auto place = number_of(request, "NCCL_IB_PKEY");
  const auto has_place = [&](const std::vector<int>& pkeys) {
    const auto at = static_cast<std::size_t>(place->value);
    return place->value >= 0 && at < pkeys.size() && pkeys[at] != 0;
  };
  if (place && !may_have_partition(active, has_place))
    return RdmaIsLacking{RdmaLack::wrong_pkey, place->shown, {}};
  const auto word = number_of(request, "UCX_IB_PKEY");
  const auto has_pkey = [&](const std::vector<int>& pkeys) {
    return std::any_of(pkeys.begin(), pkeys.end(), [&](int pkey) {
      return (pkey & ~kFullMember) == (word->value & ~long{kFullMember});
    });
  };
  if (!word || may_have_partition(active, has_pkey)) return std::nullopt;
  return RdmaIsLacking{RdmaLack::wrong_pkey, word->shown, {}};
}

}  // namespace

bool is_of_job(const RdmaIsLacking& obstacle) {
  return obstacle.lack == RdmaLack::wrong_gid || obstacle.lack == RdmaLack::wrong_pkey;
}

bool leaves_tcp_alone(const RdmaIsLacking& obstacle) {
  return obstacle.lack == RdmaLack::no_port || obstacle.lack == RdmaLack::no_active_port ||
         obstacle.lack == RdmaLack::no_device_files;
}

std::optional<RdmaIsLacking> rdma_obstacle(const NodeFabric& fabric, const RdmaRequest& request) {
  if (fabric.ports.empty()) return RdmaIsLacking{RdmaLack::no_port, "", {}};
  Ports active;
  for (const FabricPort& port : fabric.ports)
    if (port.active()) active.push_back(&port);
  if (active.empty()) return RdmaIsLacking{RdmaLack::no_active_port, states_of(fabric), {}};
  if (request.alone) return std::nullopt;
  if (std::none_of(active.begin(), active.end(),
                   [](const FabricPort* port) { return is_in_partition(*port); }))
    return RdmaIsLacking{RdmaLack::no_partition, with_interfaces(active), {}};
  if (std::all_of(active.begin(), active.end(), [](const FabricPort* port) {
        return is_roce(*port) && routable_gid(*port) == nullptr;
      }))
    return RdmaIsLacking{RdmaLack::no_gid, with_interfaces(active), {}};
  if (!fabric.has_infiniband_devices) return RdmaIsLacking{RdmaLack::no_device_files, "", {}};
  const bool is_short = fabric.memlock_bytes >= 0 && fabric.memlock_bytes < kLeastLockedMemory;
  if (is_short && !request.may_lock_all)
    return RdmaIsLacking{RdmaLack::locked_memory, "",
                         Bytes{static_cast<std::uint64_t>(fabric.memlock_bytes)}};
  if (auto gid = wrong_gid(active, request)) return gid;
  return wrong_pkey(active, request);
}

}  // namespace lockstep::runner
