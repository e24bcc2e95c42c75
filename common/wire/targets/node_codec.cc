#include "common/wire/targets/node_codec.h"

#include "common/wire/targets/fabric_codec.h"
#include "common/wire/why_codec.h"

namespace lockstep::pb {

namespace {
constexpr std::size_t kMaxDevices = 1'024;
constexpr std::size_t kMaxInterfaces = 4'096;
constexpr int kMaxCpuId = 1 << 20;
}  // namespace

Status read_ids(const google::protobuf::RepeatedField<std::int32_t>& from, const char* field,
                std::vector<int>* to) {
  TRY(check_count(from.size(), kMaxCpuId, field));
  to->reserve(static_cast<std::size_t>(from.size()));
  for (const int id : from) TRY(read_number(id, 0, kMaxCpuId, field, &to->emplace_back()));
  return {};
}

void to_wire(const lockstep::GpuDevice& from, GpuDevice* to) {
  to->set_index(from.index);
  to->set_uuid(from.uuid);
  to->set_name(from.name);
  to->set_pci_bus_id(from.pci_bus_id);
  to->set_memory_bytes(from.memory.count);
  to->set_numa_node(from.numa_node);
}

Status from_wire(const GpuDevice& from, lockstep::GpuDevice* to) {
  TRY(read_number(from.index(), 0, 1 << 16, "gpu.index", &to->index));
  TRY(read_text(from.uuid(), "gpu.uuid", &to->uuid));
  TRY(read_text(from.name(), "gpu.name", &to->name));
  TRY(read_text(from.pci_bus_id(), "gpu.pci_bus_id", &to->pci_bus_id));
  to->memory = Bytes{from.memory_bytes()};
  return read_number(from.numa_node(), -1, 1 << 16, "gpu.numa_node", &to->numa_node);
}

void to_wire(const lockstep::NetworkInterface& from, NetworkInterface* to) {
  to->set_name(from.name);
  write_texts(from.addresses, to->mutable_addresses());
  to->set_speed_mbps(from.speed_mbps);
  to->set_up(from.up);
  to->set_loopback(from.loopback);
}

Status from_wire(const NetworkInterface& from, lockstep::NetworkInterface* to) {
  TRY(read_text(from.name(), "interface.name", &to->name));
  TRY(read_texts(from.addresses(), kMaxInterfaces, "interface.addresses", &to->addresses));
  if (from.speed_mbps() < -1) return bad_field("interface.speed_mbps", "is below -1");
  to->speed_mbps = from.speed_mbps();
  to->up = from.up();
  to->loopback = from.loopback();
  return {};
}

void to_wire(const lockstep::RdmaPort& from, RdmaPort* to) {
  to->set_device(from.device);
  to->set_port(from.port);
  to->set_state(from.state);
  to->set_rate_gbps(from.rate_gbps);
  to->set_link_layer(from.link_layer);
  to->set_subnet_prefix(from.subnet_prefix);
  to->mutable_pkeys()->Assign(from.pkeys.begin(), from.pkeys.end());
}

Status from_wire(const RdmaPort& from, lockstep::RdmaPort* to) {
  constexpr std::size_t kMaxWordBytes = 256;
  TRY(read_text(from.device(), "rdma.device", &to->device, kMaxWordBytes));
  TRY(read_number(from.port(), 0, 255, "rdma.port", &to->port));
  TRY(read_text(from.state(), "rdma.state", &to->state, kMaxWordBytes));
  TRY(read_number(from.rate_gbps(), 0, 1 << 20, "rdma.rate_gbps", &to->rate_gbps));
  TRY(read_text(from.link_layer(), "rdma.link_layer", &to->link_layer, kMaxWordBytes));
  TRY(read_text(from.subnet_prefix(), "rdma.subnet_prefix", &to->subnet_prefix, kMaxWordBytes));
  TRY(check_count(from.pkeys_size(), kMaxPkeys, "rdma.pkeys"));
  for (const int pkey : from.pkeys())
    TRY(read_number(pkey, 0, 0xffff, "rdma.pkeys", &to->pkeys.emplace_back()));
  return {};
}

void to_wire(const lockstep::NodeEvent& from, NodeEvent* to) {
  to->set_at_ns(from.at.ns);
  to->set_what(from.what);
  to->set_message(fitting_text(from.message));
  if (from.why) to_wire(from.why, to->mutable_why_data());
}
Status from_wire(const NodeEvent& from, lockstep::NodeEvent* to) {
  TRY(read_instant(from.at_ns(), "node_event.at", &to->at));
  TRY(read_text(from.what(), "node_event.what", &to->what));
  TRY(read_why(from.message(), from.has_why_data(), from.why_data(), "node_event.message",
               &to->why));
  return read_text(from.message(), "node_event.message", &to->message);
}

void to_wire(const lockstep::Inventory& from, Inventory* to) {
  to->set_hostname(from.hostname);
  to->set_os(from.os);
  to->set_kernel(from.kernel);
  to->set_architecture(from.architecture);
  to->set_glibc(from.glibc);
  to->set_cuda(from.cuda);
  if (from.container_engine) to->set_container_engine(*from.container_engine);
  to->mutable_cpus()->Assign(from.cpus.begin(), from.cpus.end());
  to->set_sockets(from.sockets);
  to->set_numa_nodes(from.numa_nodes);
  to->set_memory_bytes(from.memory.count);
  to->set_disk_free_bytes(from.disk_free.count);
  write_list(from.gpus, to->mutable_gpus());
  write_list(from.interfaces, to->mutable_interfaces());
  to->set_address(from.address);
  to->set_address_is_loopback(from.address_is_loopback);
  to->set_host_id(from.host_id);
  to->set_network(from.network);
  to->set_user(from.user);
  to->set_isolation(from.isolation);
  to->set_workdir_mode(from.workdir_mode);
  write_texts(from.limitations, to->mutable_limitations());
  write_list(from.rdma_ports, to->mutable_rdma_ports());
  if (from.unenforced) {
    Unenforced* unenforced = to->mutable_unenforced();
    for (const auto& [name, why] : *from.unenforced) {
      UnenforcedLimit* limit = unenforced->add_limits();
      limit->set_name(name);
      limit->set_why(why);
    }
  }
  to->mutable_caps()->set_pids(from.caps.pids);
  to->mutable_caps()->set_log_bytes(from.caps.log.count);
  to->mutable_caps()->set_disk_bytes(from.caps.disk.count);
  if (from.fabric) to_wire(*from.fabric, to->mutable_fabric());
}

Status from_wire(const Inventory& from, lockstep::Inventory* to) {
  TRY(read_text(from.hostname(), "inventory.hostname", &to->hostname));
  TRY(read_text(from.os(), "inventory.os", &to->os));
  TRY(read_text(from.kernel(), "inventory.kernel", &to->kernel));
  TRY(read_text(from.architecture(), "inventory.architecture", &to->architecture));
  TRY(read_text(from.glibc(), "inventory.glibc", &to->glibc));
  TRY(read_text(from.cuda(), "inventory.cuda", &to->cuda));
  if (from.has_container_engine())
    TRY(read_text(from.container_engine(), "inventory.container_engine",
                  &to->container_engine.emplace()));
  TRY(read_ids(from.cpus(), "inventory.cpus", &to->cpus));
  TRY(read_number(from.sockets(), 0, 1 << 16, "inventory.sockets", &to->sockets));
  TRY(read_number(from.numa_nodes(), 0, 1 << 16, "inventory.numa_nodes", &to->numa_nodes));
  to->memory = Bytes{from.memory_bytes()};
  to->disk_free = Bytes{from.disk_free_bytes()};
  TRY(read_list(from.gpus(), kMaxDevices, "inventory.gpus", &to->gpus));
  TRY(read_list(from.interfaces(), kMaxInterfaces, "inventory.interfaces", &to->interfaces));
  TRY(read_text(from.address(), "inventory.address", &to->address));
  to->address_is_loopback = from.address_is_loopback();
  TRY(read_text(from.host_id(), "inventory.host_id", &to->host_id));
  TRY(read_text(from.network(), "inventory.network", &to->network));
  TRY(read_text(from.user(), "inventory.user", &to->user));
  TRY(read_text(from.isolation(), "inventory.isolation", &to->isolation));
  TRY(read_text(from.workdir_mode(), "inventory.workdir_mode", &to->workdir_mode));
  TRY(read_list(from.rdma_ports(), kMaxRdmaPorts, "inventory.rdma_ports", &to->rdma_ports));
  if (from.has_unenforced()) {
    constexpr int kMaxUnenforced = 16;
    to->unenforced.emplace();
    TRY(check_count(from.unenforced().limits_size(), kMaxUnenforced, "inventory.unenforced"));
    for (const UnenforcedLimit& limit : from.unenforced().limits()) {
      std::string name;
      TRY(read_text(limit.name(), "inventory.unenforced", &name));
      TRY(read_text(limit.why(), "inventory.unenforced", &(*to->unenforced)[name]));
    }
  }
  TRY(read_number(from.caps().pids(), 0, kMostPidsLimit, "inventory.caps.pids", &to->caps.pids));
  to->caps.log = Bytes{from.caps().log_bytes()};
  to->caps.disk = Bytes{from.caps().disk_bytes()};
  if (from.has_fabric()) TRY(from_wire(from.fabric(), &to->fabric.emplace()));
  return read_texts(from.limitations(), 1'000, "inventory.limitations", &to->limitations);
}

}  // namespace lockstep::pb
