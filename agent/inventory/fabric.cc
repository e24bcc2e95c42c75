#include "agent/inventory/fabric.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "agent/inventory/fabric_gpus.h"
#include "agent/inventory/fabric_rdma.h"
#include "agent/inventory/fabric_versions.h"
#include "agent/inventory/pci.h"
#include "common/grammar/ip_network.h"
#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

constexpr int kMostLevels = 4;  // how many links may stand on one another

// ---- interfaces --------------------------------------------------------------------------------

// The link's folder in /sys. "" if /sys belongs to another network namespace, where a link of this
// name is another one.
std::string folder_of(const FabricPlaces& places, const NetworkLink& link) {
  std::string folder = places.sys + "/class/net/" + link.name;
  return number_of(folder + "/ifindex", -1) == link.index ? folder : "";
}

bool stands_on_another(const NetworkLink& link) {
  constexpr std::array<std::string_view, 4> kKinds = {"vlan", "macvlan", "ipvlan", "macsec"};
  return std::find(kKinds.begin(), kKinds.end(), link.kind) != kKinds.end();
}
bool has_ports(const NetworkLink& link) {
  constexpr std::array<std::string_view, 3> kKinds = {"bridge", "bond", "team"};
  return std::find(kKinds.begin(), kKinds.end(), link.kind) != kKinds.end();
}

class InterfaceReader {
 public:
  InterfaceReader(const FabricPlaces& places, const std::vector<NetworkLink>& links)
      : places_(places), links_(links) {}

  std::vector<FabricInterface> read() const {
    std::vector<FabricInterface> all;
    for (const NetworkLink& link : links_)
      if (is_of_use(link)) all.push_back(describe(link));
    // If there are too many, interfaces of hardware are kept.
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return !a.is_virtual && b.is_virtual; });
    if (all.size() > kMaxFabricInterfaces) all.resize(kMaxFabricInterfaces);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return all;
  }

 private:
  // Containers make many virtual links. One whose only address is link-local or loopback reaches no
  // other node.
  bool is_of_use(const NetworkLink& link) const {
    const bool has_own_address =
        std::any_of(link.addresses.begin(), link.addresses.end(),
                    [](const FabricAddress& one) { return !is_link_local(one.address); });
    return has_own_address || (link.kind.empty() && place_of(link).exists);
  }

  FabricInterface describe(const NetworkLink& link) const {
    const DevicePlace place = place_of(link);
    FabricInterface interface;
    interface.name = link.name;
    interface.addresses = link.addresses;
    interface.mtu = std::max(link.mtu, 0);
    const std::string folder = folder_of(places_, link);
    const long long speed = folder.empty() ? -1 : number_of(folder + "/speed", -1);
    interface.speed_mbps = speed > 0 ? speed : -1;
    interface.driver = place.driver.empty() ? link.kind : place.driver;
    interface.is_virtual = !link.loopback && !stands_on_device(link, kMostLevels);
    interface.up = link.up;
    interface.loopback = link.loopback;
    interface.default_route = link.default_route;
    interface.numa_node = place.numa_node;
    interface.pci = place.pci;
    return interface;
  }

  DevicePlace place_of(const NetworkLink& link) const {
    const std::string folder = link.kind.empty() ? folder_of(places_, link) : "";
    return folder.empty() ? DevicePlace() : device_place(folder + "/device");
  }

  // Whether a link counts as hardware: a vlan if its link does, a bridge or a bond if one of its
  // ports does.
  bool stands_on_device(const NetworkLink& link, int levels) const {
    if (place_of(link).exists) return true;
    if (levels == 0) return false;
    return std::any_of(links_.begin(), links_.end(), [&](const NetworkLink& other) {
      const bool is_under = stands_on_another(link) && other.index == link.below;
      const bool is_port = has_ports(link) && other.master == link.index;
      return (is_under || is_port) && stands_on_device(other, levels - 1);
    });
  }

  const FabricPlaces& places_;
  const std::vector<NetworkLink>& links_;
};

// ---- what RDMA needs ---------------------------------------------------------------------------

bool has_device_files(const std::string& dev) {
  const auto names = io::list_directory(dev + "/infiniband");
  return names && std::any_of(names->begin(), names->end(),
                              [](const std::string& name) { return name.starts_with("uverbs"); });
}

bool has_module(const std::string& sys, std::string_view name) {
  return io::exists(fmt::format("{}/module/{}", sys, name));
}

bool is_virtual_machine(const std::string& proc) {
  const auto text = io::read_file(proc + "/cpuinfo");
  if (!text) return false;
  const auto flags = text->find("\nflags");
  if (flags == std::string::npos) return false;
  const std::string line = text->substr(flags + 1, text->find('\n', flags + 1) - flags - 1) + " ";
  return line.find(" hypervisor ") != std::string::npos;
}

// Whether this process has CAP_SYS_RESOURCE among its effective capabilities.
bool may_lift_limits() {
  constexpr int kSysResource = 24;
  const auto status = io::read_file("/proc/self/status");
  if (!status) return false;
  const auto at = status->find("CapEff:");
  unsigned long long effective = 0;
  if (at == std::string::npos || std::sscanf(status->c_str() + at, "CapEff: %llx", &effective) != 1)
    return false;
  return (effective >> kSysResource & 1) != 0;
}

void take_network(const FabricPlaces& places, const std::vector<NetworkLink>& links,
                  NodeFabric* fabric) {
  fabric->interfaces = InterfaceReader(places, links).read();
  fabric->ports = probe_fabric_ports(places.sys);
  fabric->has_infiniband_devices = has_device_files(places.dev);
}

}  // namespace

NodeFabric read_fabric(const FabricPlaces& places, const std::vector<NetworkLink>& links) {
  NodeFabric fabric;
  take_network(places, links, &fabric);
  FabricVersions versions = probe_fabric_versions(places.root, places.sys, places.proc);
  fabric.nccl = std::move(versions.nccl);
  fabric.ucx = std::move(versions.ucx);
  fabric.verbs = std::move(versions.verbs);
  fabric.nvidia_driver = std::move(versions.nvidia_driver);
  fabric.numa = numa_distances(places.sys);
  fabric.gpu_direct =
      has_module(places.sys, "nvidia_peermem") || has_module(places.sys, "nv_peer_mem");
  fabric.virtual_machine = is_virtual_machine(places.proc);
  return fabric;
}

NodeFabric probe_fabric(const std::vector<GpuDevice>& gpus) {
  const auto links = read_links();
  NodeFabric fabric = read_fabric({}, links ? *links : std::vector<NetworkLink>());
  fabric.gpus = probe_fabric_gpus(gpus);
  fabric.memlock_bytes = memlock_limit();
  return fabric;
}

NodeFabric with_network_now(NodeFabric fabric) {
  const auto links = read_links();
  if (links) take_network({}, *links, &fabric);
  return fabric;
}

std::int64_t memlock_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return -1;
  if (may_lift_limits()) return -1;
  return static_cast<std::int64_t>(
      std::min<rlim_t>(limit.rlim_max, static_cast<rlim_t>(INT64_MAX)));
}

}  // namespace lockstep::agent
