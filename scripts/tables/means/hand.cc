// The hand-written codecs of today, as they are, of the prototype's structs.
#include <climits>
#include "means/codec.h"
#include "common/domain/provider_settings.h"
#include "common/wire/fields.h"
#include "proto/compute.pb.h"
#include "proto/journal.pb.h"
namespace lockstep::pb {
constexpr std::size_t kMaxNameBytes = 1'024;

constexpr std::size_t kMaxDevices = 1'024;

constexpr std::size_t kMaxInterfaces = 4'096;

constexpr int kMaxCpuId = 1 << 20;

static_assert(is_wire_of(lockstep::Cause::completed, CAUSE_COMPLETED));

static_assert(is_wire_of(lockstep::Cause::exit_code, CAUSE_EXIT_CODE));

static_assert(is_wire_of(lockstep::Cause::signal, CAUSE_SIGNAL));

static_assert(is_wire_of(lockstep::Cause::out_of_memory, CAUSE_OUT_OF_MEMORY));

static_assert(is_wire_of(lockstep::Cause::mpi_abort, CAUSE_MPI_ABORT));

static_assert(is_wire_of(lockstep::Cause::exit_without_finalize, CAUSE_EXIT_WITHOUT_FINALIZE));

static_assert(is_wire_of(lockstep::Cause::never_connected, CAUSE_NEVER_CONNECTED));

static_assert(is_wire_of(lockstep::Cause::command_not_found, CAUSE_COMMAND_NOT_FOUND));

static_assert(is_wire_of(lockstep::Cause::command_not_executable, CAUSE_COMMAND_NOT_EXECUTABLE));

static_assert(is_wire_of(lockstep::Cause::timeout, CAUSE_TIMEOUT));

static_assert(is_wire_of(lockstep::Cause::canceled, CAUSE_CANCELED));

static_assert(is_wire_of(lockstep::Cause::workspace_failed, CAUSE_WORKSPACE_FAILED));

static_assert(is_wire_of(lockstep::Cause::start_failed, CAUSE_START_FAILED));

static_assert(is_wire_of(lockstep::Cause::port_taken, CAUSE_PORT_TAKEN));

static_assert(is_wire_of(lockstep::Cause::runner_lost, CAUSE_RUNNER_LOST));

static_assert(is_wire_of(lockstep::Cause::node_lost, CAUSE_NODE_LOST));

static_assert(is_wire_of(lockstep::Cause::account_missing, CAUSE_ACCOUNT_MISSING));

static_assert(is_wire_of(lockstep::Cause::environment_failed, CAUSE_ENVIRONMENT_FAILED));

static_assert(is_wire_of(lockstep::Cause::disk_limit, CAUSE_DISK_LIMIT));

static_assert(is_wire_of(lockstep::Cause::preempted, CAUSE_PREEMPTED));

static_assert(is_wire_of(lockstep::Cause::hang, CAUSE_HANG));

static_assert(is_wire_of(lockstep::Cause::no_rdma, CAUSE_NO_RDMA));

void to_wire(const lockstep::AttemptId& from, AttemptId* to) {
  to->set_job(from.job.value);
  to->set_number(from.number);
  to->set_era(from.incarnation);
}

Status from_wire(const AttemptId& from, lockstep::AttemptId* to) {
  TRY(read_job(from.job(), "attempt.job", &to->job));
  if (from.number() == 0) return bad_field("attempt.number", "is 0; attempts count from 1");
  to->number = from.number();
  to->incarnation = from.era();
  return {};
}

int number_of(Rdma rdma) {
  switch (rdma) {
    case Rdma::off: return 0;
    case Rdma::preferred: return 1;
    case Rdma::required: return 2;
  }
  return 0;
}

Status read_rdma(int number, Rdma* to) {
  for (const Rdma rdma : {Rdma::off, Rdma::preferred, Rdma::required}) {
    if (number_of(rdma) != number) continue;
    *to = rdma;
    return {};
  }
  return bad_field("resources.rdma", "has a value that this version does not know");
}

void write_resources(const lockstep::ResourceRequest& from, ResourceRequest* to) {
  to->set_instance_count(from.instance_count);
  if (from.cpus) to->set_cpus(*from.cpus);
  if (from.memory) to->set_memory_bytes(from.memory->count);
  if (from.gpus) to->set_gpus(*from.gpus);
  to->set_isolate_gpus(from.isolate_gpus);
  if (from.shm_size) to->set_shm_bytes(from.shm_size->count);
  write_texts(from.docker_args, to->mutable_docker_args());
  to->set_instance_type(from.instance_type);
  to->set_isolated(from.isolated);
  to->set_rdma(number_of(from.rdma));
  write_map(from.labels, to->mutable_labels());
  write_texts(from.nodes, to->mutable_nodes());
}

Status read_resources(const ResourceRequest& from, lockstep::ResourceRequest* to) {
  TRY(read_number(from.instance_count(), 1, kMaxNodesPerJob, "resources.instance_count",
                  &to->instance_count));
  if (from.has_cpus())
    TRY(read_number(from.cpus(), 1, 1 << 20, "resources.cpus", &to->cpus.emplace()));
  if (from.has_memory_bytes()) to->memory = Bytes{from.memory_bytes()};
  if (from.has_gpus())
    TRY(read_number(from.gpus(), 0, 1 << 16, "resources.gpus", &to->gpus.emplace()));
  to->isolate_gpus = from.isolate_gpus();
  if (from.has_shm_bytes()) to->shm_size = Bytes{from.shm_bytes()};
  TRY(read_texts(from.docker_args(), kMaxDockerArgs, "resources.docker_args", &to->docker_args));
  TRY(read_text(from.instance_type(), "resources.instance_type", &to->instance_type));
  to->isolated = from.isolated();
  TRY(read_rdma(from.rdma(), &to->rdma));
  TRY(read_map(from.labels(), 10 * kMaxNodeLabels, "resources.labels", &to->labels));
  return read_texts(from.nodes(), 10 * kMaxNamedNodes, "resources.nodes", &to->nodes);
}

Status read_cause(int value, const char* field, lockstep::Cause* out) {
  return read_enum(value, lockstep::Cause::no_rdma, field, out);
}

void to_wire(const lockstep::RankEnd& from, RankEnd* to) {
  to->set_rank(from.rank);
  to->set_exit_code(from.exit_code);
  to->set_signal(from.signal);
  to->set_started(from.started);
  to->set_terminated_by_us(from.terminated_by_us);
  to->set_failed(from.failed);
  to->set_time_ns(from.time.ns);
}

Status from_wire(const RankEnd& from, lockstep::RankEnd* to) {
  TRY(read_rank(from.rank(), "rank_end.rank", &to->rank));
  to->exit_code = from.exit_code();
  TRY(read_number(from.signal(), 0, 128, "rank_end.signal", &to->signal));
  to->started = from.started();
  to->terminated_by_us = from.terminated_by_us();
  to->failed = from.failed();
  return read_instant(from.time_ns(), "rank_end.time", &to->time);
}

void write_lost_peer(const lockstep::LostPeer& from, LostPeer* to) {
  to->set_address(from.address);
  to->set_node_rank(from.node_rank + 1);
  if (from.end) to_wire(*from.end, to->mutable_end());
  to->set_left(from.left);
}

Status read_lost_peer(const LostPeer& from, lockstep::LostPeer* to) {
  TRY(read_text(from.address(), "lost_peer.address", &to->address, kMaxPeerAddressBytes));
  TRY(read_number(from.node_rank(), 0, kMaxNodesPerJob, "lost_peer.node_rank", &to->node_rank));
  --to->node_rank;
  if (from.has_end()) TRY(from_wire(from.end(), &to->end.emplace()));
  to->left = from.left();
  return {};
}

void to_wire(const lockstep::RankExit& from, RankExit* to) {
  to->set_rank(from.rank);
  to->set_local_rank(from.local_rank);
  to->set_exit_code(from.exit_code);
  to->set_signal(from.signal);
  to->set_cause(wire_enum<Cause>(from.cause));
  to->set_terminated_by_us(from.terminated_by_us);
  to->set_started(from.started);
  to->set_time_ns(from.time.ns);
  to->set_stderr_tail(fitting_text(from.stderr_tail));
  to->set_detail(fitting_text(from.detail));
  to->set_cpu_time_ns(from.cpu_time.count());
  to->set_peak_memory_bytes(from.peak_memory.count);
  to->set_read_bytes(from.read.count);
  to->set_written_bytes(from.written.count);
  if (from.lost_peer) write_lost_peer(*from.lost_peer, to->mutable_lost_peer());
  to->set_backtrace(fitting_text(from.backtrace));
}

Status from_wire(const RankExit& from, lockstep::RankExit* to) {
  TRY(read_rank(from.rank(), "rank_exit.rank", &to->rank));
  TRY(read_rank(from.local_rank(), "rank_exit.local_rank", &to->local_rank));
  to->exit_code = from.exit_code();
  TRY(read_number(from.signal(), 0, 128, "rank_exit.signal", &to->signal));
  TRY(read_cause(from.cause(), "rank_exit.cause", &to->cause));
  to->terminated_by_us = from.terminated_by_us();
  to->started = from.started();
  TRY(read_instant(from.time_ns(), "rank_exit.time", &to->time));
  TRY(read_text(from.stderr_tail(), "rank_exit.stderr_tail", &to->stderr_tail));
  TRY(read_duration(from.cpu_time_ns(), "rank_exit.cpu_time", &to->cpu_time));
  to->peak_memory = Bytes{from.peak_memory_bytes()};
  to->read = Bytes{from.read_bytes()};
  to->written = Bytes{from.written_bytes()};
  if (from.has_lost_peer()) TRY(read_lost_peer(from.lost_peer(), &to->lost_peer.emplace()));
  TRY(read_text(from.backtrace(), "rank_exit.backtrace", &to->backtrace));
  return read_text(from.detail(), "rank_exit.detail", &to->detail);
}

void to_wire(const lockstep::ClockOffset& from, ClockOffset* to) {
  to->set_ahead_ns(from.ahead.count());
  to->set_uncertainty_ns(from.uncertainty.count());
}

Status from_wire(const ClockOffset& from, lockstep::ClockOffset* to) {
  const bool is_behind = from.ahead_ns() < 0;
  TRY(read_duration(is_behind ? -(from.ahead_ns() + 1) : from.ahead_ns(), "clock.ahead",
                    &to->ahead));
  if (is_behind) to->ahead = -to->ahead - Duration(1);
  return read_duration(from.uncertainty_ns(), "clock.uncertainty", &to->uncertainty);
}

void to_wire(const lockstep::PossibleFirst& from, PossibleFirst* to) {
  to->set_cause(wire_enum<Cause>(from.cause));
  if (from.rank) to->set_rank(*from.rank);
  to->set_node(from.node.value);
  to->set_node_name(from.node_name);
  to->set_time_ns(from.time.ns);
  to->set_message(fitting_text(from.message));
}

Status from_wire(const PossibleFirst& from, lockstep::PossibleFirst* to) {
  TRY(read_cause(from.cause(), "also.cause", &to->cause));
  if (from.has_rank()) TRY(read_rank(from.rank(), "also.rank", &to->rank.emplace()));
  to->node = NodeId(from.node());
  TRY(read_text(from.node_name(), "also.node_name", &to->node_name));
  TRY(read_instant(from.time_ns(), "also.time", &to->time));
  return read_text(from.message(), "also.message", &to->message);
}

void to_wire(const lockstep::NodeClock& from, NodeClock* to) {
  to->set_node_name(from.node_name);
  to_wire(from.offset, to->mutable_offset());
}

Status from_wire(const NodeClock& from, lockstep::NodeClock* to) {
  TRY(read_text(from.node_name(), "clocks.node_name", &to->node_name));
  return from_wire(from.offset(), &to->offset);
}

void to_wire(const lockstep::ExitReport& from, ExitReport* to) {
  to->set_cause(wire_enum<Cause>(from.cause));
  to->set_exit_code(from.exit_code);
  if (from.rank) to->set_rank(*from.rank);
  to->set_node(from.node.value);
  to->set_node_name(from.node_name);
  to->set_time_ns(from.time.ns);
  to->set_message(fitting_text(from.message));
  to->set_stderr_tail(fitting_text(from.stderr_tail));
  to->mutable_terminated_ranks()->Assign(from.terminated_ranks.begin(),
                                         from.terminated_ranks.end());
  write_list(from.also, to->mutable_also());
  write_list(from.clocks, to->mutable_clocks());
  to->set_lifetime_ns(from.lifetime.count());
  if (from.lost_peer) write_lost_peer(*from.lost_peer, to->mutable_lost_peer());
  to->set_backtrace(fitting_text(from.backtrace));
}

Status from_wire(const ExitReport& from, lockstep::ExitReport* to) {
  TRY(read_cause(from.cause(), "report.cause", &to->cause));
  to->exit_code = from.exit_code();
  if (from.has_rank()) TRY(read_rank(from.rank(), "report.rank", &to->rank.emplace()));
  to->node = NodeId(from.node());
  TRY(read_text(from.node_name(), "report.node_name", &to->node_name));
  TRY(read_instant(from.time_ns(), "report.time", &to->time));
  TRY(read_text(from.message(), "report.message", &to->message));
  TRY(read_text(from.stderr_tail(), "report.stderr_tail", &to->stderr_tail));
  TRY(check_count(from.terminated_ranks_size(), kMaxRankNumber, "report.terminated_ranks"));
  for (const int rank : from.terminated_ranks())
    TRY(read_rank(rank, "report.terminated_ranks", &to->terminated_ranks.emplace_back()));
  TRY(read_list(from.also(), kMaxPossibleFirst, "report.also", &to->also));
  TRY(read_duration(from.lifetime_ns(), "report.lifetime", &to->lifetime));
  if (from.has_lost_peer()) TRY(read_lost_peer(from.lost_peer(), &to->lost_peer.emplace()));
  TRY(read_text(from.backtrace(), "report.backtrace", &to->backtrace));
  return read_list(from.clocks(), kMaxNodeClocks, "report.clocks", &to->clocks);
}

int number_of(ComputeType type) {
  switch (type) {
    case ComputeType::local: return 1;
    case ComputeType::virtualmachine: return 2;
    case ComputeType::amlcompute: return 3;
    case ComputeType::kubernetes: return 5;
    case ComputeType::computeinstance: return 7;
  }
  return 0;
}

Status read_type(int number, ComputeType* to) {
  for (const ComputeType type :
       {ComputeType::local, ComputeType::virtualmachine, ComputeType::amlcompute,
        ComputeType::kubernetes, ComputeType::computeinstance}) {
    if (number_of(type) != number) continue;
    *to = type;
    return {};
  }
  return bad_field("compute.type", "has a value that this version does not know");
}

int number_of(NodeSource source) {
  switch (source) {
    case NodeSource::none: return 0;
    case NodeSource::join: return 1;
    case NodeSource::ssh: return 2;
    case NodeSource::docker: return 3;
    case NodeSource::slurm: return 4;
    case NodeSource::command: return 5;
    case NodeSource::kubernetes: return 6;
  }
  return 0;
}

Status read_source(int number, ComputeType type, NodeSource* to) {
  if (number == 0) {
    *to = type == ComputeType::local ? NodeSource::none : NodeSource::join;
    return {};
  }
  for (const NodeSource source : {NodeSource::join, NodeSource::ssh, NodeSource::docker,
                                  NodeSource::slurm, NodeSource::command, NodeSource::kubernetes}) {
    if (number_of(source) != number) continue;
    *to = source;
    return {};
  }
  return bad_field("compute.source", "is none that this version knows");
}

int number_of(Tier tier) {
  switch (tier) {
    case Tier::dedicated: return 0;
    case Tier::low_priority: return 1;
  }
  return 0;
}

void write_scale(const lockstep::Scale& from, Scale* to) {
  to->set_tier(number_of(from.tier));
  to->set_min_instances(from.min_instances);
  to->set_max_instances(from.max_instances);
  to->set_idle_time_ns(from.idle_time.count());
}

Status read_scale(const Scale& from, lockstep::Scale* to) {
  if (from.tier() < 0 || from.tier() > 1)
    return bad_field("compute.tier", "is none that this version knows");
  to->tier = from.tier() == 1 ? Tier::low_priority : Tier::dedicated;
  TRY(read_number(from.min_instances(), 0, INT_MAX, "compute.min_instances", &to->min_instances));
  TRY(read_number(from.max_instances(), 0, INT_MAX, "compute.max_instances", &to->max_instances));
  if (from.idle_time_ns() < 0) return bad_field("compute.idle_time", "is negative");
  to->idle_time = Duration(from.idle_time_ns());
  return {};
}

void write_settings(const ProviderSettings& from,
                    google::protobuf::RepeatedPtrField<ProviderSetting>* to) {
  for (const auto& [name, words] : from) {
    ProviderSetting* setting = to->Add();
    setting->set_name(name);
    write_texts(words, setting->mutable_words());
  }
}

Status read_settings(const google::protobuf::RepeatedPtrField<ProviderSetting>& from,
                     ProviderSettings* to) {
  if (static_cast<std::size_t>(from.size()) > 2 * kMaxSettings)
    return bad_field("compute.settings", "are too many");
  for (const ProviderSetting& setting : from) {
    std::string name;
    TRY(read_text(setting.name(), "setting.name", &name, 2 * kMaxSettingBytes));
    TRY(read_texts(setting.words(), 2 * kMaxSettingWords, "setting.words", &(*to)[name]));
  }
  return {};
}

void to_wire(const lockstep::SshHost& from, SshHost* to) {
  to->set_name(from.name);
  to->set_address(from.address);
  to->set_user(from.user);
  to->set_port(from.port);
  to->set_key(from.key);
  to->set_password_secret(from.password_secret);
  to->set_secret_owner(from.secret_owner);
  to->set_jump(from.jump);
  to->set_directory(from.directory);
}

Status from_wire(const SshHost& from, lockstep::SshHost* to) {
  TRY(read_text(from.name(), "host.name", &to->name, kMaxNameBytes));
  TRY(read_text(from.address(), "host.address", &to->address, kMaxNameBytes));
  TRY(read_text(from.user(), "host.user", &to->user, kMaxNameBytes));
  TRY(read_number(from.port(), 0, 65'535, "host.port", &to->port));
  TRY(read_text(from.key(), "host.key", &to->key));
  TRY(read_text(from.password_secret(), "host.password_secret", &to->password_secret));
  TRY(read_text(from.secret_owner(), "host.secret_owner", &to->secret_owner));
  TRY(read_text(from.jump(), "host.jump", &to->jump, kMaxNameBytes));
  return read_text(from.directory(), "host.directory", &to->directory);
}

void to_wire(const lockstep::ComputeSpec& from, ComputeSpec* to) {
  to->set_name(from.name);
  to->set_type(number_of(from.type));
  to->set_description(from.description);
  to->set_location(from.location);
  write_map(from.tags, to->mutable_tags());
  to->set_source(number_of(from.source));
  write_list(from.hosts, to->mutable_hosts());
  to->set_tunnel(from.tunnel);
  to->set_size(from.size);
  if (!(from.scale == lockstep::Scale{})) write_scale(from.scale, to->mutable_scale());
  write_settings(from.settings, to->mutable_settings());
  to->set_shutdown_after_ns(from.instance.idle_time.count());
  write_map(from.labels, to->mutable_labels());
}

Status from_wire(const ComputeSpec& from, lockstep::ComputeSpec* to) {
  TRY(read_text(from.name(), "compute.name", &to->name, kMaxNameBytes));
  TRY(read_type(from.type(), &to->type));
  TRY(read_text(from.description(), "compute.description", &to->description));
  TRY(read_text(from.location(), "compute.location", &to->location));
  TRY(read_map(from.tags(), 10 * kMaxComputeTags, "compute.tags", &to->tags));
  TRY(read_source(from.source(), to->type, &to->source));
  TRY(read_list(from.hosts(), 2 * kMaxHosts, "compute.hosts", &to->hosts));
  TRY(read_text(from.tunnel(), "compute.tunnel", &to->tunnel));
  TRY(read_text(from.size(), "compute.size", &to->size, kMaxNameBytes));
  if (from.has_scale()) {
    TRY(read_scale(from.scale(), &to->scale));
  }
  if (from.shutdown_after_ns() < 0) return bad_field("compute.shutdown_after", "is negative");
  to->instance.idle_time = Duration(from.shutdown_after_ns());
  TRY(read_map(from.labels(), 10 * kMaxNodeLabels, "compute.labels", &to->labels));
  return read_settings(from.settings(), &to->settings);
}

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
  return read_texts(from.limitations(), 1'000, "inventory.limitations", &to->limitations);
}

int number_of(Approval approval) {
  switch (approval) {
    case Approval::as_configured: return 0;
    case Approval::required: return 1;
    case Approval::waived: return 2;
  }
  return 0;
}

Status read_approval(int number, const char* field, Approval* to) {
  for (const Approval one : {Approval::as_configured, Approval::required, Approval::waived}) {
    if (number_of(one) != number) continue;
    *to = one;
    return {};
  }
  return bad_field(field, "has a value that this version does not know");
}

void to_wire(const launcher::TokenCreated& f, TokenCreated* to) {
    to->set_secret_hash(std::string(f.secret_hash.view()));
    to->set_expires_ns(f.expires.ns);
    to->set_uses(f.uses);
    to->set_approval(number_of(f.approval));
    to->set_pool(f.pool);
    to->set_machine(f.machine);
    to->set_by(f.by);
  }

Status from_wire(const TokenCreated& from, launcher::TokenCreated* to) {
  TRY(read_digest(from.secret_hash(), "token.secret_hash", &to->secret_hash));
  TRY(read_instant(from.expires_ns(), "token.expires", &to->expires));
  TRY(read_approval(from.approval(), "token.approval", &to->approval));
  TRY(read_text(from.pool(), "token.pool", &to->pool));
  TRY(read_text(from.machine(), "token.machine", &to->machine));
  TRY(read_text(from.by(), "token.by", &to->by));
  return read_number(from.uses(), INT32_MIN, INT32_MAX, "token.uses", &to->uses);
}

void to_wire(const launcher::PartGone& f, PartGone* to) {
    to_wire(f.attempt, to->mutable_attempt());
    to->set_node(f.node.value);
    to->set_cause(wire_enum<Cause>(f.cause));
    to->set_why(fitting_text(f.why));
    to->set_fenced_until_ns(f.fenced_until.ns);
    to->set_revoked(f.revoked);
  }

Status from_wire(const PartGone& from, launcher::PartGone* to) {
  to->revoked = from.revoked();
  TRY(from_wire(from.attempt(), &to->attempt));
  to->node = NodeId(from.node());
  TRY(read_cause(from.cause(), "gone.cause", &to->cause));
  TRY(read_instant(from.fenced_until_ns(), "gone.fenced_until", &to->fenced_until));
  return read_text(from.why(), "gone.why", &to->why);
}
}  // namespace lockstep::pb
namespace lockstep::means {
#define MEANS(Domain, Wire) \
  void write(const Domain& from, pb::Wire* to) { pb::to_wire(from, to); } \
  Status read(const pb::Wire& from, Domain* to) { return pb::from_wire(from, to); }
MEANS(ExitReport, ExitReport)
MEANS(RankExit, RankExit)
MEANS(ComputeSpec, ComputeSpec)
MEANS(Inventory, Inventory)
MEANS(launcher::PartGone, PartGone)
MEANS(launcher::TokenCreated, TokenCreated)
void write(const ResourceRequest& from, pb::ResourceRequest* to) { pb::write_resources(from, to); }
Status read(const pb::ResourceRequest& from, ResourceRequest* to) { return pb::read_resources(from, to); }
}
