#include "common/fabric/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/cut.h"
#include "common/fabric/rdma_choice.h"
#include "common/fabric/setting_checks.h"
#include "common/fabric/socket_interface.h"

namespace lockstep {
namespace {

constexpr std::string_view kLoopbackName = "lo";
// With a lower limit, NCCL and UCX fail when they register their buffers.
constexpr std::int64_t kLeastLockedBytes = std::int64_t{64} << 20;

bool is_mpi(const JobSpec& spec) { return spec.distribution.kind == Distribution::Kind::mpi; }

// Returns the value that all ports have; nullopt: two ports differ, or the list is empty.
template <typename Of>
std::optional<int> common_value(const PortList& ports, const Of& of) {
  std::optional<int> common;
  for (const FabricPort* port : ports) {
    const int value = of(*port);
    if (common && *common != value) return std::nullopt;
    common = value;
  }
  return common;
}

// Collects the settings of one rank by name. The first value of a variable stays.
class RankSettings {
 public:
  RankSettings(const NodeFabric& fabric, const ProbeResult* probe,
               const OperatorSettings& operators, const JobSpec& spec, const RankPlace& place)
      : fabric_(fabric),
        operators_(operators),
        spec_(spec),
        place_(place),
        rdma_(choose_rdma(fabric, operators, place.gang_fabric, place.gpus)),
        interface_(nodes() > 1 ? choose_interface({fabric, probe, operators, place.node_rank,
                                                   nodes(), place.route_interface})
                               : std::nullopt),
        checked_{fabric,          rdma_,
                 probe,           spec.resources.rdma,
                 place.node_rank, nodes() > 1 && place.route_interface != kLoopbackName} {}

  NetworkSettings take() {
    take_users();
    take_operators();
    if (nodes() > 1) {
      set_sockets();
      set_rdma_or_tcp();
    }
    if (is_mpi(spec_)) set_open_mpi();
    warn();
    return cut_to_limits();
  }

 private:
  int nodes() const { return spec_.resources.instance_count; }
  bool is_known() const { return !fabric_.interfaces.empty(); }
  bool uses_rdma() const { return nodes() > 1 && !rdma_.ports.empty(); }
  bool has(const std::string& name) const { return settings_.count(name) > 0; }
  void set(const std::string& name, std::string value, SettingSource source, std::string reason,
           std::string warning = "") {
    settings_.emplace(name, NetworkSetting{name, std::move(value), source, std::move(reason),
                                           std::move(warning)});
  }
  SettingSource rdma_source() const {
    return rdma_.by_operator ? SettingSource::operator_file : SettingSource::probe;
  }
  // Sets a variable whose value follows from the node's fabric.
  void set_for_rdma(const std::string& name, std::string value, std::string reason) {
    set(name, std::move(value), SettingSource::probe, std::move(reason));
  }

  void take_users() {
    for (const auto& [name, value] : spec_.environment_variables)
      if (is_network_variable(name))
        set(name, value, SettingSource::user, "set by the job or its environment");
  }
  void take_operators() {
    for (const OperatorVariable& one : operators_.variables)
      set(one.name, one.value, SettingSource::operator_file, one.rule);
  }

  // ---- sockets ---------------------------------------------------------------------------------
  void set_sockets() {
    if (!interface_) return;
    const auto& [name, source, reason, warning] = *interface_;
    // Without '=' the value would be a prefix.
    set("NCCL_SOCKET_IFNAME", "=" + name, source, reason, warning);
    for (const char* variable : {"GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME"})
      set(variable, name, source, reason, warning);
    if (!is_mpi(spec_)) return;
    // MPICH's two providers of TCP.
    for (const char* variable : {"FI_TCP_IFACE", "FI_SOCKETS_IFACE"})
      set(variable, name, source, reason, warning);
    // Open MPI fails if a list of each kind is set.
    for (const std::string of : {"OMPI_MCA_btl_tcp", "OMPI_MCA_oob_tcp"})
      if (!has(of + "_if_exclude")) set(of + "_if_include", name, source, reason, warning);
  }

  // ---- RDMA ------------------------------------------------------------------------------------
  void set_rdma_or_tcp() {
    if (uses_rdma()) return set_rdma();
    if (!is_known()) return;
    if (rdma_.would_be_taken) set("NCCL_IB_DISABLE", "1", rdma_source(), rdma_.why);
    if (!interface_ || interface_->name == kLoopbackName) return;
    set("UCX_NET_DEVICES", interface_->name, interface_->source, interface_->reason);
    if (place_.gpus.empty())  // UCX's transports for GPUs are named only if ranks have GPUs
      set("UCX_TLS", "tcp,sm,self", SettingSource::probe, rdma_.why);
  }

  void set_rdma() {
    set("NCCL_IB_HCA", "=" + names_of(rdma_.ports), rdma_source(), rdma_.why);
    set_gid_index();
    set_gid_index_of_soft_roce();
    set_partition();
    set_traffic_class();
    set_for_gpus();
    set_ucx_devices();
    if (place_.gpus.empty())
      set_for_rdma("UCX_TLS", "ib,sm,self", "RDMA between nodes, shared memory within one");
    set_memlock();
  }

  void set_gid_index() {
    if (!is_roce(*rdma_.ports.front())) return;
    const auto index = common_value(rdma_.ports, [](const FabricPort& port) {
      const FabricGid* gid = routable_gid(port);
      return gid == nullptr ? -1 : gid->index;
    });
    if (index && *index >= 0) {
      const FabricGid& gid = *routable_gid(*rdma_.ports.front());
      return set_for_rdma("NCCL_IB_GID_INDEX", std::to_string(*index),
                          fmt::format("GID {} of {} is {} of an IP address ({})", *index,
                                      name_of(*rdma_.ports.front()), gid.type, gid.gid));
    }
    if (index) return;
    const std::string why = "the GIDs of RoCE v2 have other indexes on other ports";
    set_for_rdma("NCCL_IB_ROCE_VERSION_NUM", "2", why);
    set_for_rdma("NCCL_IB_ADDR_FAMILY", "AF_INET", why);
  }

  // UCX sets connections up by datagrams. Over soft-RoCE those from an IPv4 GID are lost (seen with
  // UCX 1.13 on Linux 6.1: "unhandled timeout error"); those from the link's IPv6 GID arrive.
  void set_gid_index_of_soft_roce() {
    if (!std::all_of(rdma_.ports.begin(), rdma_.ports.end(),
                     [](const FabricPort* port) { return is_software(*port); }))
      return;
    const auto index = common_value(rdma_.ports, [](const FabricPort& port) {
      const FabricGid* gid = link_local_gid(port);
      return gid == nullptr ? -1 : gid->index;
    });
    if (index && *index >= 0)
      set_for_rdma("UCX_IB_GID_INDEX", std::to_string(*index),
                   "UCX's datagrams get through soft-RoCE only with the link's IPv6 GID");
  }

  void set_partition() {
    if (!place_.gang_fabric || place_.gang_fabric->pkey < 0) return;
    const int pkey = place_.gang_fabric->pkey;
    if (is_roce(*rdma_.ports.front()) || pkey == kDefaultPartition) return;
    set_for_rdma("UCX_IB_PKEY", fmt::format("0x{:04x}", pkey),
                 "all nodes of the job are full members of this partition");
    const auto index =
        common_value(rdma_.ports, [&](const FabricPort& port) { return pkey_index(port, pkey); });
    if (index && *index > 0)
      set_for_rdma("NCCL_IB_PKEY", std::to_string(*index),
                   fmt::format("the place of partition 0x{:04x} in the ports' tables", pkey));
  }

  void set_traffic_class() {
    const auto common =
        common_value(rdma_.ports, [](const FabricPort& port) { return port.traffic_class; });
    if (!common || *common < 0) return;
    for (const char* name : {"NCCL_IB_TC", "UCX_IB_TRAFFIC_CLASS"})
      set_for_rdma(name, std::to_string(*common),
                   "the traffic class that this machine has for RDMA");
  }

  // A hypervisor shows GPUs and ports as far apart. NCCL would then read the GPUs' memory through
  // the processor, and order every write.
  void set_for_gpus() {
    if (place_.gpus.empty() || !fabric_.virtual_machine) return;
    set_for_rdma("NCCL_IB_PCI_RELAXED_ORDERING", "1",
                 "this node is a virtual machine with GPUs and RDMA");
    if (!fabric_.gpu_direct || has("NCCL_TOPO_FILE") || shares_bridge()) return;
    set_for_rdma("NCCL_NET_GDR_LEVEL", "SYS",
                 "in a virtual machine the PCI paths hide that GPUs and ports are near, and "
                 "GPUDirect RDMA is loaded");
  }
  bool shares_bridge() const {
    return std::any_of(place_.gpus.begin(), place_.gpus.end(), [&](int index) {
      const FabricGpu* gpu = gpu_with_index(fabric_, index);
      return gpu != nullptr &&
             std::any_of(rdma_.ports.begin(), rdma_.ports.end(), [&](const FabricPort* port) {
               return nearness(fabric_, *gpu, *port).bridges > 0;
             });
    });
  }

  // ---- the nearest port of a rank's GPUs -------------------------------------------------------
  // The GPUs of this rank: one each as `set_device(LOCAL_RANK)` takes them; of fewer ranks than
  // GPUs, as many for each.
  std::vector<int> gpus_of_rank() const {
    const auto count = place_.gpus.size();
    const auto ranks = static_cast<std::size_t>(std::max(1, spec_.ranks_on(place_.node_rank)));
    const auto local = static_cast<std::size_t>(place_.local_rank);
    if (count == 0) return {};
    if (spec_.resources.isolate_gpus)
      return local < count ? std::vector<int>{place_.gpus[local]} : std::vector<int>{};
    if (ranks >= count) return {place_.gpus[local % count]};
    const std::size_t share = count / ranks;
    const auto first = place_.gpus.begin() + static_cast<std::ptrdiff_t>(local * share);
    return {first, first + static_cast<std::ptrdiff_t>(share)};
  }

  // If several ports are equally near to several GPUs, each GPU gets another port.
  const FabricPort* port_of_gpu(int index) const {
    const FabricGpu* gpu = gpu_with_index(fabric_, index);
    if (gpu == nullptr) return nullptr;
    const PortList near = nearest_ports(fabric_, rdma_.ports, *gpu);
    std::size_t turn = 0;
    for (const int other : place_.gpus) {
      if (other == index) break;
      const FabricGpu* before = gpu_with_index(fabric_, other);
      if (before != nullptr && nearest_ports(fabric_, rdma_.ports, *before) == near) ++turn;
    }
    return near.empty() ? nullptr : near[turn % near.size()];
  }

  void set_ucx_devices() {
    PortList ports;
    std::string reason = rdma_.why;
    for (const int index : gpus_of_rank()) {
      const FabricPort* port = port_of_gpu(index);
      if (port == nullptr) continue;
      if (ports.empty()) reason = why_near(index, *port);
      if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
    }
    if (ports.size() > 1) reason = "the nearest ports of the rank's GPUs";
    if (rdma_.ports.size() == 1) reason = rdma_.why;
    set("UCX_NET_DEVICES", names_of(ports.empty() ? rdma_.ports : ports),
        reason == rdma_.why ? rdma_source() : SettingSource::probe, reason);
  }
  std::string why_near(int index, const FabricPort& port) const {
    const Nearness how = nearness(fabric_, *gpu_with_index(fabric_, index), port);
    const std::string by = how.bridges > 0 ? "behind the same PCI bridge"
                           : how.numa < kUnknownDistance
                               ? fmt::format("NUMA node {}", port.numa_node)
                               : "their distance is not known";
    return fmt::format("the nearest port of GPU {} ({})", index, by);
  }

  // ---- memory, MPI -----------------------------------------------------------------------------
  void set_memlock() {
    const std::int64_t bytes = fabric_.memlock_bytes;
    const bool is_short = bytes >= 0 && bytes < kLeastLockedBytes;
    set(std::string(kMemlockSetting), bytes < 0 ? "unlimited" : fmt::format("{} bytes", bytes),
        SettingSource::fixed, "the hard limit of this node's agent; RDMA locks memory",
        is_short ? "too little for RDMA: set LimitMEMLOCK=infinity in the unit of lockstep-agent"
                 : "");
  }

  // Without an RDMA port Open MPI uses these components anyway. Not loading the others (UCX,
  // libfabric and their libraries) saves most of a short job's time.
  void set_open_mpi() {
    if (is_known() ? rdma_.ports.empty() : !place_.has_rdma_device) {
      const std::string why = is_known() ? rdma_.why : "this node has no RDMA device";
      set("OMPI_MCA_pml", "ob1", SettingSource::fixed, why);
      set("OMPI_MCA_btl", "self,vader,tcp", SettingSource::fixed, why);
      // Debian also excludes pt2pt. Without pt2pt, one-sided windows fail between nodes over TCP.
      return set("OMPI_MCA_osc", "^ucx", SettingSource::fixed, why);
    }
    if (!uses_rdma()) return;
    set_for_rdma("OMPI_MCA_btl", "^openib", "InfiniBand is UCX's part since Open MPI 4");
    if (spec_.resources.rdma == Rdma::required)
      set_for_rdma("OMPI_MCA_pml", "ucx",
                   "the job has lockstep.rdma: required, and Open MPI reaches RDMA through UCX");
    // By default Open MPI uses UCX only with devices whose names begin with mlx.
    const bool has_others =
        std::any_of(rdma_.ports.begin(), rdma_.ports.end(),
                    [](const FabricPort* port) { return !port->device.starts_with("mlx"); });
    if (has_others)
      set_for_rdma("OMPI_MCA_opal_common_ucx_devices", "any",
                   "Open MPI would take UCX only for devices called mlx…");
  }

  // ---- the end ---------------------------------------------------------------------------------
  void warn() {
    VariableMap all;
    for (const auto& [name, setting] : settings_) all.emplace(name, setting.value);
    for (auto& [name, setting] : settings_) {
      const bool is_ours =
          setting.source == SettingSource::probe || setting.source == SettingSource::fixed;
      if (is_ours || !setting.warning.empty()) continue;
      setting.warning = warning_for(name, setting.value, all, checked_);
    }
  }

  // Settings of Lockstep are never left out; there are only a few dozen.
  NetworkSettings cut_to_limits() {
    const auto is_spare = [](const NetworkSetting& one) {
      return one.source == SettingSource::user && one.warning.empty();
    };
    std::size_t surplus = settings_.size() - std::min(settings_.size(), kMaxNetworkSettings);
    NetworkSettings out;
    for (auto& [name, setting] : settings_) {
      if (surplus > 0 && is_spare(setting)) {
        --surplus;
        continue;
      }
      const auto fit = [](std::string& text) {
        constexpr std::size_t kMark = 3;  // bytes of the "…" at a cut
        if (text.size() > kMaxSettingTextBytes) text = cut(text, kMaxSettingTextBytes - kMark);
      };
      if (setting.source == SettingSource::user) fit(setting.value);
      fit(setting.reason);
      fit(setting.warning);
      out.push_back(std::move(setting));
    }
    if (out.size() > kMaxNetworkSettings) out.resize(kMaxNetworkSettings);
    return out;
  }

  const NodeFabric& fabric_;
  const OperatorSettings& operators_;
  const JobSpec& spec_;
  const RankPlace& place_;
  const RdmaChoice rdma_;
  const std::optional<SocketInterface> interface_;
  const CheckedNode checked_;
  std::map<std::string, NetworkSetting> settings_;
};

}  // namespace

NetworkSettings settings_for(const NodeFabric& fabric, const ProbeResult* probe,
                             const OperatorSettings& operators, const JobSpec& spec,
                             const RankPlace& place) {
  return RankSettings(fabric, probe, operators, spec, place).take();
}

std::map<std::string, std::string> variables_of(const NetworkSettings& settings) {
  std::map<std::string, std::string> variables;
  for (const NetworkSetting& one : settings)
    if (one.source != SettingSource::user && one.name != kMemlockSetting)
      variables.emplace(one.name, one.value);
  return variables;
}

SettingOverrides differences(const std::vector<NetworkSettings>& all) {
  SettingOverrides found;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const NetworkSettings& first = all.front();
    if (all[rank] == first) continue;
    for (const NetworkSetting& setting : all[rank]) {
      if (std::find(first.begin(), first.end(), setting) != first.end()) continue;
      const auto same = std::find_if(found.begin(), found.end(), [&](const SettingOverride& one) {
        return one.setting == setting;
      });
      if (same != found.end())
        same->local_ranks.push_back(static_cast<int>(rank));
      else if (found.size() < kMaxSettingOverrides)
        found.push_back({setting, {static_cast<int>(rank)}});
    }
  }
  return found;
}

}  // namespace lockstep
