#include "common/wire/targets/fabric_codec.h"

#include <algorithm>

#include "common/base/cut.h"
#include "common/domain/job/distribution.h"
#include "common/domain/job/spec.h"

namespace lockstep::pb {
namespace {

constexpr int kMaxSmall = 1 << 20;  // MTUs, rates, indexes
constexpr int kMaxNumaNumber = 1 << 16;
constexpr std::size_t kMaxPciBytes = 1'024;  // a path through some bridges

// ---- shared parts ------------------------------------------------------------------------------

// The receiver refuses a text that is longer.
std::string fitted(const std::string& text, std::size_t most) {
  constexpr std::size_t kMark = 3;  // of the "…" at a cut
  return text.size() <= most ? text : cut(text, most - kMark);
}
std::string fabric_text(const std::string& text) { return fitted(text, kMaxFabricTextBytes); }
// The same for numbers of the kernel: a loopback device takes any MTU.
int small(int number) { return std::clamp(number, 0, kMaxSmall); }
int numa_number(int number) { return std::clamp(number, -1, kMaxNumaNumber); }
Status read_fabric_text(const std::string& value, const char* field, std::string* out) {
  return read_text(value, field, out, kMaxFabricTextBytes);
}
Status read_small(std::int64_t value, const char* field, int* out) {
  return read_number(value, 0, kMaxSmall, field, out);
}
Status read_numa_number(std::int64_t value, const char* field, int* out) {
  return read_number(value, -1, kMaxNumaNumber, field, out);
}
Status read_speed(std::int64_t value, const char* field, std::int64_t* out) {
  if (value < -1) return bad_field(field, "is below -1");
  *out = value;
  return {};
}

using NumberList = google::protobuf::RepeatedField<std::int32_t>;
void write_numbers(const std::vector<int>& from, std::size_t most, NumberList* to) {
  const auto count = std::min(from.size(), most);
  to->Assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
}
Status read_numbers(const NumberList& from, std::size_t most, int highest, const char* field,
                    std::vector<int>* to) {
  TRY(check_count(from.size(), most, field));
  to->reserve(static_cast<std::size_t>(from.size()));
  for (const int number : from) TRY(read_number(number, 0, highest, field, &to->emplace_back()));
  return {};
}

template <typename Domain, typename Wire>
void write_most(const std::vector<Domain>& from, std::size_t most,
                google::protobuf::RepeatedPtrField<Wire>* to) {
  const std::size_t count = std::min(from.size(), most);
  to->Reserve(static_cast<int>(count));
  for (std::size_t i = 0; i < count; ++i) to_wire(from[i], to->Add());
}

void write_names(const std::vector<std::string>& from, TextList* to) {
  for (std::size_t i = 0; i < std::min(from.size(), kMaxOperatorNames); ++i)
    *to->Add() = fabric_text(from[i]);
}
Status read_names(const TextList& from, const char* field, std::vector<std::string>* to) {
  TRY(check_count(from.size(), kMaxOperatorNames, field));
  for (const std::string& name : from) TRY(read_fabric_text(name, field, &to->emplace_back()));
  return {};
}

}  // namespace

// ---- parts of a node's fabric ------------------------------------------------------------------

void to_wire(const lockstep::FabricAddress& from, FabricAddress* to) {
  to->set_address(fabric_text(from.address));
  to->set_prefix(from.prefix);
}
Status from_wire(const FabricAddress& from, lockstep::FabricAddress* to) {
  TRY(read_fabric_text(from.address(), "fabric.address", &to->address));
  return read_number(from.prefix(), 0, 128, "fabric.prefix", &to->prefix);
}

void to_wire(const lockstep::FabricInterface& from, FabricInterface* to) {
  to->set_name(fabric_text(from.name));
  write_most(from.addresses, kMaxFabricAddresses, to->mutable_addresses());
  to->set_mtu(small(from.mtu));
  to->set_speed_mbps(std::max<std::int64_t>(from.speed_mbps, -1));
  to->set_driver(fabric_text(from.driver));
  to->set_is_virtual(from.is_virtual);
  to->set_up(from.up);
  to->set_loopback(from.loopback);
  to->set_default_route(from.default_route);
  to->set_numa_node(numa_number(from.numa_node));
  to->set_pci(fitted(from.pci, kMaxPciBytes));
}
Status from_wire(const FabricInterface& from, lockstep::FabricInterface* to) {
  TRY(read_fabric_text(from.name(), "fabric.interface", &to->name));
  TRY(read_list(from.addresses(), kMaxFabricAddresses, "fabric.addresses", &to->addresses));
  TRY(read_small(from.mtu(), "fabric.mtu", &to->mtu));
  TRY(read_speed(from.speed_mbps(), "fabric.speed_mbps", &to->speed_mbps));
  TRY(read_fabric_text(from.driver(), "fabric.driver", &to->driver));
  to->is_virtual = from.is_virtual();
  to->up = from.up();
  to->loopback = from.loopback();
  to->default_route = from.default_route();
  TRY(read_numa_number(from.numa_node(), "fabric.numa_node", &to->numa_node));
  return read_text(from.pci(), "fabric.pci", &to->pci, kMaxPciBytes);
}

void to_wire(const lockstep::FabricGid& from, FabricGid* to) {
  to->set_index(small(from.index));
  to->set_gid(fabric_text(from.gid));
  to->set_type(fabric_text(from.type));
  to->set_netdev(fabric_text(from.netdev));
}
Status from_wire(const FabricGid& from, lockstep::FabricGid* to) {
  TRY(read_small(from.index(), "fabric.gid.index", &to->index));
  TRY(read_fabric_text(from.gid(), "fabric.gid", &to->gid));
  TRY(read_fabric_text(from.type(), "fabric.gid.type", &to->type));
  return read_fabric_text(from.netdev(), "fabric.gid.netdev", &to->netdev);
}

void to_wire(const lockstep::FabricPort& from, FabricPort* to) {
  to->set_device(fabric_text(from.device));
  to->set_port(from.port);
  to->set_state(fabric_text(from.state));
  to->set_link_layer(fabric_text(from.link_layer));
  to->set_rate_gbps(small(from.rate_gbps));
  to->set_lid(small(from.lid));
  write_most(from.gids, kMaxFabricGids, to->mutable_gids());
  write_numbers(from.pkeys, kMaxFabricPkeys, to->mutable_pkeys());
  to->set_firmware(fabric_text(from.firmware));
  to->set_netdev(fabric_text(from.netdev));
  to->set_pci(fitted(from.pci, kMaxPciBytes));
  to->set_numa_node(numa_number(from.numa_node));
  to->set_driver(fabric_text(from.driver));
  if (from.traffic_class >= 0) to->set_traffic_class(from.traffic_class);
}
Status from_wire(const FabricPort& from, lockstep::FabricPort* to) {
  TRY(read_fabric_text(from.device(), "fabric.port.device", &to->device));
  TRY(read_number(from.port(), 0, 255, "fabric.port", &to->port));
  TRY(read_fabric_text(from.state(), "fabric.port.state", &to->state));
  TRY(read_fabric_text(from.link_layer(), "fabric.port.link_layer", &to->link_layer));
  TRY(read_small(from.rate_gbps(), "fabric.port.rate_gbps", &to->rate_gbps));
  TRY(read_small(from.lid(), "fabric.port.lid", &to->lid));
  TRY(read_list(from.gids(), kMaxFabricGids, "fabric.port.gids", &to->gids));
  TRY(read_numbers(from.pkeys(), kMaxFabricPkeys, 0xffff, "fabric.port.pkeys", &to->pkeys));
  TRY(read_fabric_text(from.firmware(), "fabric.port.firmware", &to->firmware));
  TRY(read_fabric_text(from.netdev(), "fabric.port.netdev", &to->netdev));
  TRY(read_text(from.pci(), "fabric.port.pci", &to->pci, kMaxPciBytes));
  TRY(read_numa_number(from.numa_node(), "fabric.port.numa_node", &to->numa_node));
  if (from.has_traffic_class())
    TRY(read_number(from.traffic_class(), 0, 255, "fabric.port.traffic_class", &to->traffic_class));
  return read_fabric_text(from.driver(), "fabric.port.driver", &to->driver);
}

void to_wire(const lockstep::FabricGpu& from, FabricGpu* to) {
  to->set_index(small(from.index));
  to->set_pci(fitted(from.pci, kMaxPciBytes));
  to->set_numa_node(numa_number(from.numa_node));
  write_numbers(from.nvlink_peers, kMaxFabricGpus, to->mutable_nvlink_peers());
  to->set_mig(from.mig);
  write_numbers(from.p2p_peers, kMaxFabricGpus, to->mutable_p2p_peers());
}
Status from_wire(const FabricGpu& from, lockstep::FabricGpu* to) {
  TRY(read_small(from.index(), "fabric.gpu.index", &to->index));
  TRY(read_text(from.pci(), "fabric.gpu.pci", &to->pci, kMaxPciBytes));
  TRY(read_numa_number(from.numa_node(), "fabric.gpu.numa_node", &to->numa_node));
  TRY(read_numbers(from.nvlink_peers(), kMaxFabricGpus, kMaxSmall, "fabric.gpu.nvlink_peers",
                   &to->nvlink_peers));
  to->mig = from.mig();
  return read_numbers(from.p2p_peers(), kMaxFabricGpus, kMaxSmall, "fabric.gpu.p2p_peers",
                      &to->p2p_peers);
}

void to_wire(const lockstep::FabricNuma& from, FabricNuma* to) {
  to->set_node(from.node);
  write_numbers(from.distances, kMaxFabricNuma, to->mutable_distances());
}
Status from_wire(const FabricNuma& from, lockstep::FabricNuma* to) {
  TRY(read_number(from.node(), 0, kMaxNumaNumber, "fabric.numa.node", &to->node));
  return read_numbers(from.distances(), kMaxFabricNuma, kMaxSmall, "fabric.numa.distances",
                      &to->distances);
}

// ---- parts of fabric.yml -----------------------------------------------------------------------

void to_wire(const lockstep::OperatorVariable& from, OperatorVariable* to) {
  to->set_name(fitted(from.name, kMaxSettingNameBytes));
  to->set_value(fitted(from.value, kMaxSettingTextBytes));
  to->set_rule(fabric_text(from.rule));
}
Status from_wire(const OperatorVariable& from, lockstep::OperatorVariable* to) {
  TRY(read_text(from.name(), "operator_settings.name", &to->name, kMaxSettingNameBytes));
  TRY(read_text(from.value(), "operator_settings.value", &to->value, kMaxSettingTextBytes));
  return read_fabric_text(from.rule(), "operator_settings.rule", &to->rule);
}

// ---- the fabric --------------------------------------------------------------------------------

void to_wire(const lockstep::NodeFabric& from, NodeFabric* to) {
  write_most(from.interfaces, kMaxFabricInterfaces, to->mutable_interfaces());
  write_most(from.ports, kMaxFabricPorts, to->mutable_ports());
  write_most(from.gpus, kMaxFabricGpus, to->mutable_gpus());
  to->set_nccl(fabric_text(from.nccl));
  to->set_ucx(fabric_text(from.ucx));
  to->set_verbs(fabric_text(from.verbs));
  to->set_nvidia_driver(fabric_text(from.nvidia_driver));
  to->set_has_infiniband_devices(from.has_infiniband_devices);
  to->set_memlock_bytes(std::max<std::int64_t>(from.memlock_bytes, -1));
  write_most(from.numa, kMaxFabricNuma, to->mutable_numa());
  to->set_gpu_direct(from.gpu_direct);
  to->set_virtual_machine(from.virtual_machine);
}

Status from_wire(const NodeFabric& from, lockstep::NodeFabric* to) {
  TRY(read_list(from.interfaces(), kMaxFabricInterfaces, "fabric.interfaces", &to->interfaces));
  TRY(read_list(from.ports(), kMaxFabricPorts, "fabric.ports", &to->ports));
  TRY(read_list(from.gpus(), kMaxFabricGpus, "fabric.gpus", &to->gpus));
  TRY(read_fabric_text(from.nccl(), "fabric.nccl", &to->nccl));
  TRY(read_fabric_text(from.ucx(), "fabric.ucx", &to->ucx));
  TRY(read_fabric_text(from.verbs(), "fabric.verbs", &to->verbs));
  TRY(read_fabric_text(from.nvidia_driver(), "fabric.nvidia_driver", &to->nvidia_driver));
  to->has_infiniband_devices = from.has_infiniband_devices();
  if (from.memlock_bytes() < -1) return bad_field("fabric.memlock_bytes", "is below -1");
  to->memlock_bytes = from.memlock_bytes();
  TRY(read_list(from.numa(), kMaxFabricNuma, "fabric.numa", &to->numa));
  to->gpu_direct = from.gpu_direct();
  to->virtual_machine = from.virtual_machine();
  return {};
}

void to_wire(const lockstep::GangFabric& from, GangFabric* to) {
  to->set_link_layer(fabric_text(from.link_layer));
  to->set_subnet(fabric_text(from.subnet));
  if (from.pkey >= 0) to->set_pkey(from.pkey);
}
Status from_wire(const GangFabric& from, lockstep::GangFabric* to) {
  TRY(read_fabric_text(from.link_layer(), "gang.fabric.link_layer", &to->link_layer));
  TRY(read_fabric_text(from.subnet(), "gang.fabric.subnet", &to->subnet));
  if (from.has_pkey()) TRY(read_number(from.pkey(), 0, 0x7fff, "gang.fabric.pkey", &to->pkey));
  return {};
}

// ---- the probe ---------------------------------------------------------------------------------

void to_wire(const lockstep::PathFailure& from, PathFailure* to) {
  to->set_from(from.from);
  to->set_to(from.to);
  to->set_from_address(fabric_text(from.from_address));
  to->set_from_interface(fabric_text(from.from_interface));
  to->set_to_address(fabric_text(from.to_address));
  to->set_port(from.port);
  to->set_trouble(static_cast<int>(from.trouble) + 1);
  to->set_mtu(small(from.mtu));
}
Status from_wire(const PathFailure& from, lockstep::PathFailure* to) {
  TRY(read_number(from.from(), 0, kMaxNodesPerJob - 1, "probe.from", &to->from));
  TRY(read_number(from.to(), 0, kMaxNodesPerJob - 1, "probe.to", &to->to));
  TRY(read_fabric_text(from.from_address(), "probe.from_address", &to->from_address));
  TRY(read_fabric_text(from.from_interface(), "probe.from_interface", &to->from_interface));
  TRY(read_fabric_text(from.to_address(), "probe.to_address", &to->to_address));
  TRY(read_port(from.port(), "probe.port", &to->port));
  TRY(read_enum(from.trouble(), lockstep::PathTrouble::large_packets_lost, "probe.trouble",
                &to->trouble));
  return read_small(from.mtu(), "probe.mtu", &to->mtu);
}

void to_wire(const lockstep::ChosenPath& from, ChosenPath* to) {
  to->set_node_rank(from.node_rank);
  to->set_interface(fabric_text(from.interface));
  to->set_address(fabric_text(from.address));
  to->set_round_trip_ns(from.round_trip.count());
  to->set_speed_mbps(std::max<std::int64_t>(from.speed_mbps, -1));
  to->set_mtu(small(from.mtu));
}
Status from_wire(const ChosenPath& from, lockstep::ChosenPath* to) {
  TRY(read_number(from.node_rank(), 0, kMaxNodesPerJob - 1, "probe.node_rank", &to->node_rank));
  TRY(read_fabric_text(from.interface(), "probe.interface", &to->interface));
  TRY(read_fabric_text(from.address(), "probe.address", &to->address));
  TRY(read_duration(from.round_trip_ns(), "probe.round_trip", &to->round_trip));
  TRY(read_speed(from.speed_mbps(), "probe.speed_mbps", &to->speed_mbps));
  return read_small(from.mtu(), "probe.mtu", &to->mtu);
}

void to_wire(const lockstep::ProbeResult& from, ProbeResult* to) {
  write_most(from.chosen, kMaxNodesPerJob, to->mutable_chosen());
  write_most(from.failures, kMaxPathFailures, to->mutable_failures());
  to->set_cached(from.cached);
  to->set_broken(std::clamp(from.broken, 0, to->failures_size()));
}
Status from_wire(const ProbeResult& from, lockstep::ProbeResult* to) {
  TRY(read_list(from.chosen(), kMaxNodesPerJob, "probe.chosen", &to->chosen));
  TRY(read_list(from.failures(), kMaxPathFailures, "probe.failures", &to->failures));
  to->cached = from.cached();
  return read_number(from.broken(), 0, static_cast<std::int64_t>(to->failures.size()),
                     "probe.broken", &to->broken);
}

// ---- settings ----------------------------------------------------------------------------------

void to_wire(const lockstep::NetworkSetting& from, NetworkSetting* to) {
  to->set_name(fitted(from.name, kMaxSettingNameBytes));
  to->set_value(fitted(from.value, kMaxSettingTextBytes));
  to->set_source(static_cast<int>(from.source) + 1);
  to->set_reason(fitted(from.reason, kMaxSettingTextBytes));
  to->set_warning(fitted(from.warning, kMaxSettingTextBytes));
}
Status from_wire(const NetworkSetting& from, lockstep::NetworkSetting* to) {
  TRY(read_text(from.name(), "setting.name", &to->name, kMaxSettingNameBytes));
  TRY(read_text(from.value(), "setting.value", &to->value, kMaxSettingTextBytes));
  TRY(read_enum(from.source(), lockstep::SettingSource::fixed, "setting.source", &to->source));
  TRY(read_text(from.reason(), "setting.reason", &to->reason, kMaxSettingTextBytes));
  return read_text(from.warning(), "setting.warning", &to->warning, kMaxSettingTextBytes);
}

void to_wire(const lockstep::SettingOverride& from, SettingOverride* to) {
  to_wire(from.setting, to->mutable_setting());
  write_numbers(from.local_ranks, kMaxRanksPerNode, to->mutable_local_ranks());
}
Status from_wire(const SettingOverride& from, lockstep::SettingOverride* to) {
  TRY(from_wire(from.setting(), &to->setting));
  return read_numbers(from.local_ranks(), kMaxRanksPerNode, kMaxRanksPerNode - 1,
                      "setting.local_ranks", &to->local_ranks);
}

void to_wire(const lockstep::OperatorSettings& from, OperatorSettings* to) {
  write_most(from.variables, kMaxOperatorVariables, to->mutable_variables());
  if (from.interface) {
    write_names(from.interface->names, to->mutable_interface()->mutable_names());
    write_names(from.interface->networks, to->mutable_interface()->mutable_networks());
    to->mutable_interface()->set_rule(fabric_text(from.interface->rule));
  }
  if (from.rdma) {
    write_names(from.rdma->ports, to->mutable_rdma()->mutable_ports());
    to->mutable_rdma()->set_rule(fabric_text(from.rdma->rule));
  }
  to->set_trouble(fabric_text(from.trouble));
}
Status from_wire(const OperatorSettings& from, lockstep::OperatorSettings* to) {
  TRY(read_list(from.variables(), kMaxOperatorVariables, "operator_settings", &to->variables));
  if (from.has_interface()) {
    auto& interface = to->interface.emplace();
    TRY(read_names(from.interface().names(), "operator_settings.interface", &interface.names));
    TRY(read_names(from.interface().networks(), "operator_settings.network", &interface.networks));
    TRY(read_fabric_text(from.interface().rule(), "operator_settings.rule", &interface.rule));
  }
  if (from.has_rdma()) {
    auto& rdma = to->rdma.emplace();
    TRY(read_names(from.rdma().ports(), "operator_settings.rdma", &rdma.ports));
    TRY(read_fabric_text(from.rdma().rule(), "operator_settings.rule", &rdma.rule));
  }
  return read_fabric_text(from.trouble(), "operator_settings.trouble", &to->trouble);
}

}  // namespace lockstep::pb
