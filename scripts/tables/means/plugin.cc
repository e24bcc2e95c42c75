#include "means/codec.h"
namespace lockstep {
#include <cstdint>
}
#include "common/base/fields.h"
namespace lockstep { Word describe(Cause); Word describe(ComputeType); Word describe(NodeSource); Word describe(Tier); Word describe(Rdma); Word describe(Approval); }
#include "common/wire/table_codec.h"
#include "proto/compute.access.h"
#include "proto/journal.access.h"
namespace lockstep::pb {
void to_wire(const lockstep::ResourceRequest& from, ResourceRequest* to);
bool from_wire(const ResourceRequest& from, Fault* fault, lockstep::ResourceRequest* to);
void to_wire(const lockstep::RankExit& from, RankExit* to);
bool from_wire(const RankExit& from, Fault* fault, lockstep::RankExit* to);
void to_wire(const lockstep::LostPeer& from, LostPeer* to);
bool from_wire(const LostPeer& from, Fault* fault, lockstep::LostPeer* to);
void to_wire(const lockstep::RankEnd& from, RankEnd* to);
bool from_wire(const RankEnd& from, Fault* fault, lockstep::RankEnd* to);
void to_wire(const lockstep::ClockOffset& from, ClockOffset* to);
bool from_wire(const ClockOffset& from, Fault* fault, lockstep::ClockOffset* to);
void to_wire(const lockstep::PossibleFirst& from, PossibleFirst* to);
bool from_wire(const PossibleFirst& from, Fault* fault, lockstep::PossibleFirst* to);
void to_wire(const lockstep::NodeClock& from, NodeClock* to);
bool from_wire(const NodeClock& from, Fault* fault, lockstep::NodeClock* to);
void to_wire(const lockstep::ExitReport& from, ExitReport* to);
bool from_wire(const ExitReport& from, Fault* fault, lockstep::ExitReport* to);
void to_wire(const lockstep::GpuDevice& from, GpuDevice* to);
bool from_wire(const GpuDevice& from, Fault* fault, lockstep::GpuDevice* to);
void to_wire(const lockstep::NetworkInterface& from, NetworkInterface* to);
bool from_wire(const NetworkInterface& from, Fault* fault, lockstep::NetworkInterface* to);
void to_wire(const lockstep::LimitCaps& from, LimitCaps* to);
bool from_wire(const LimitCaps& from, Fault* fault, lockstep::LimitCaps* to);
void to_wire(const lockstep::RdmaPort& from, RdmaPort* to);
bool from_wire(const RdmaPort& from, Fault* fault, lockstep::RdmaPort* to);
void to_wire(const lockstep::Inventory& from, Inventory* to);
bool from_wire(const Inventory& from, Fault* fault, lockstep::Inventory* to);
void to_wire(const lockstep::SshHost& from, SshHost* to);
bool from_wire(const SshHost& from, Fault* fault, lockstep::SshHost* to);
void to_wire(const lockstep::Scale& from, Scale* to);
bool from_wire(const Scale& from, Fault* fault, lockstep::Scale* to);
void to_wire(const lockstep::ComputeSpec& from, ComputeSpec* to);
bool from_wire(const ComputeSpec& from, Fault* fault, lockstep::ComputeSpec* to);
void to_wire(const lockstep::AttemptId& from, AttemptId* to);
bool from_wire(const AttemptId& from, Fault* fault, lockstep::AttemptId* to);
void to_wire(const launcher::TokenCreated& from, TokenCreated* to);
bool from_wire(const TokenCreated& from, Fault* fault, launcher::TokenCreated* to);
void to_wire(const launcher::PartGone& from, PartGone* to);
bool from_wire(const PartGone& from, Fault* fault, launcher::PartGone* to);
}
namespace lockstep::pb {
void to_wire(const lockstep::ResourceRequest& from, ResourceRequest* to) {
  write_field<Access<ResourceRequest, 1>>(from.instance_count, {.low = 1, .high = 10000}, *to);
  write_field<Access<ResourceRequest, 2>>(from.cpus, {.low = 1, .high = 1048576}, *to);
  write_field<Access<ResourceRequest, 3>>(from.memory, {}, *to);
  write_field<Access<ResourceRequest, 4>>(from.gpus, {.low = 0, .high = 65536}, *to);
  write_field<Access<ResourceRequest, 5>>(from.isolate_gpus, {}, *to);
  write_field<Access<ResourceRequest, 6>>(from.shm_size, {}, *to);
  write_field<Access<ResourceRequest, 7>>(from.docker_args, {.count = 1000}, *to);
  write_field<Access<ResourceRequest, 60>>(from.instance_type, {}, *to);
  write_field<Access<ResourceRequest, 61>>(from.isolated, {}, *to);
  write_field<Access<ResourceRequest, 62>>(from.rdma, {}, *to);
  write_field<Access<ResourceRequest, 63>>(from.labels, {.count = 640}, *to);
  write_field<Access<ResourceRequest, 64>>(from.nodes, {.count = 10000}, *to);
}
bool from_wire(const ResourceRequest& from, Fault* fault, lockstep::ResourceRequest* to) {
  if (!read_field<Access<ResourceRequest, 1>>(from, {.low = 1, .high = 10000}, {"ResourceRequest", "instance_count"}, fault, to->instance_count)) return false;
  if (!read_field<Access<ResourceRequest, 2>>(from, {.low = 1, .high = 1048576}, {"ResourceRequest", "cpus"}, fault, to->cpus)) return false;
  if (!read_field<Access<ResourceRequest, 3>>(from, {}, {"ResourceRequest", "memory"}, fault, to->memory)) return false;
  if (!read_field<Access<ResourceRequest, 4>>(from, {.low = 0, .high = 65536}, {"ResourceRequest", "gpus"}, fault, to->gpus)) return false;
  if (!read_field<Access<ResourceRequest, 5>>(from, {}, {"ResourceRequest", "isolate_gpus"}, fault, to->isolate_gpus)) return false;
  if (!read_field<Access<ResourceRequest, 6>>(from, {}, {"ResourceRequest", "shm"}, fault, to->shm_size)) return false;
  if (!read_field<Access<ResourceRequest, 7>>(from, {.count = 1000}, {"ResourceRequest", "docker_args"}, fault, to->docker_args)) return false;
  if (!read_field<Access<ResourceRequest, 60>>(from, {}, {"ResourceRequest", "instance_type"}, fault, to->instance_type)) return false;
  if (!read_field<Access<ResourceRequest, 61>>(from, {}, {"ResourceRequest", "isolated"}, fault, to->isolated)) return false;
  if (!read_field<Access<ResourceRequest, 62>>(from, {}, {"ResourceRequest", "rdma"}, fault, to->rdma)) return false;
  if (!read_field<Access<ResourceRequest, 63>>(from, {.count = 640}, {"ResourceRequest", "labels"}, fault, to->labels)) return false;
  if (!read_field<Access<ResourceRequest, 64>>(from, {.count = 10000}, {"ResourceRequest", "nodes"}, fault, to->nodes)) return false;
  return true;
}
void to_wire(const lockstep::RankExit& from, RankExit* to) {
  write_field<Access<RankExit, 1>>(from.rank, {.low = 0, .high = 10240000}, *to);
  write_field<Access<RankExit, 2>>(from.local_rank, {.low = 0, .high = 10240000}, *to);
  write_field<Access<RankExit, 3>>(from.exit_code, {}, *to);
  write_field<Access<RankExit, 4>>(from.signal, {.low = 0, .high = 128}, *to);
  write_field<Access<RankExit, 5>>(from.cause, {}, *to);
  write_field<Access<RankExit, 6>>(from.terminated_by_us, {}, *to);
  write_field<Access<RankExit, 7>>(from.started, {}, *to);
  write_field<Access<RankExit, 8>>(from.time, {}, *to);
  write_field<Access<RankExit, 9>>(from.stderr_tail, {.cut = true}, *to);
  write_field<Access<RankExit, 10>>(from.detail, {.cut = true}, *to);
  write_field<Access<RankExit, 20>>(from.cpu_time, {}, *to);
  write_field<Access<RankExit, 21>>(from.peak_memory, {}, *to);
  write_field<Access<RankExit, 22>>(from.read, {}, *to);
  write_field<Access<RankExit, 23>>(from.written, {}, *to);
  write_field<Access<RankExit, 700>>(from.lost_peer, {}, *to);
  write_field<Access<RankExit, 710>>(from.backtrace, {.cut = true}, *to);
}
bool from_wire(const RankExit& from, Fault* fault, lockstep::RankExit* to) {
  if (!read_field<Access<RankExit, 1>>(from, {.low = 0, .high = 10240000}, {"RankExit", "rank"}, fault, to->rank)) return false;
  if (!read_field<Access<RankExit, 2>>(from, {.low = 0, .high = 10240000}, {"RankExit", "local_rank"}, fault, to->local_rank)) return false;
  if (!read_field<Access<RankExit, 3>>(from, {}, {"RankExit", "exit_code"}, fault, to->exit_code)) return false;
  if (!read_field<Access<RankExit, 4>>(from, {.low = 0, .high = 128}, {"RankExit", "signal"}, fault, to->signal)) return false;
  if (!read_field<Access<RankExit, 5>>(from, {}, {"RankExit", "cause"}, fault, to->cause)) return false;
  if (!read_field<Access<RankExit, 6>>(from, {}, {"RankExit", "terminated_by_us"}, fault, to->terminated_by_us)) return false;
  if (!read_field<Access<RankExit, 7>>(from, {}, {"RankExit", "started"}, fault, to->started)) return false;
  if (!read_field<Access<RankExit, 8>>(from, {}, {"RankExit", "time"}, fault, to->time)) return false;
  if (!read_field<Access<RankExit, 9>>(from, {.cut = true}, {"RankExit", "stderr_tail"}, fault, to->stderr_tail)) return false;
  if (!read_field<Access<RankExit, 10>>(from, {.cut = true}, {"RankExit", "detail"}, fault, to->detail)) return false;
  if (!read_field<Access<RankExit, 20>>(from, {}, {"RankExit", "cpu_time"}, fault, to->cpu_time)) return false;
  if (!read_field<Access<RankExit, 21>>(from, {}, {"RankExit", "peak_memory"}, fault, to->peak_memory)) return false;
  if (!read_field<Access<RankExit, 22>>(from, {}, {"RankExit", "read"}, fault, to->read)) return false;
  if (!read_field<Access<RankExit, 23>>(from, {}, {"RankExit", "written"}, fault, to->written)) return false;
  if (!read_field<Access<RankExit, 700>>(from, {}, {"RankExit", "lost_peer"}, fault, to->lost_peer)) return false;
  if (!read_field<Access<RankExit, 710>>(from, {.cut = true}, {"RankExit", "backtrace"}, fault, to->backtrace)) return false;
  return true;
}
void to_wire(const lockstep::LostPeer& from, LostPeer* to) {
  write_field<Access<LostPeer, 1>>(from.address, {.bytes = 256}, *to);
  write_field<Access<LostPeer, 2>>(shifted<1>(from.node_rank), {.low = 0, .high = 10000}, *to);
  write_field<Access<LostPeer, 3>>(from.end, {}, *to);
  write_field<Access<LostPeer, 4>>(from.left, {}, *to);
}
bool from_wire(const LostPeer& from, Fault* fault, lockstep::LostPeer* to) {
  if (!read_field<Access<LostPeer, 1>>(from, {.bytes = 256}, {"LostPeer", "address"}, fault, to->address)) return false;
  if (!read_field<Access<LostPeer, 2>>(from, {.low = 0, .high = 10000}, {"LostPeer", "node_rank"}, fault, shifted<1>(to->node_rank))) return false;
  if (!read_field<Access<LostPeer, 3>>(from, {}, {"LostPeer", "end"}, fault, to->end)) return false;
  if (!read_field<Access<LostPeer, 4>>(from, {}, {"LostPeer", "left"}, fault, to->left)) return false;
  return true;
}
void to_wire(const lockstep::RankEnd& from, RankEnd* to) {
  write_field<Access<RankEnd, 1>>(from.rank, {.low = 0, .high = 10240000}, *to);
  write_field<Access<RankEnd, 2>>(from.exit_code, {}, *to);
  write_field<Access<RankEnd, 3>>(from.signal, {.low = 0, .high = 128}, *to);
  write_field<Access<RankEnd, 4>>(from.started, {}, *to);
  write_field<Access<RankEnd, 5>>(from.terminated_by_us, {}, *to);
  write_field<Access<RankEnd, 6>>(from.failed, {}, *to);
  write_field<Access<RankEnd, 7>>(from.time, {}, *to);
}
bool from_wire(const RankEnd& from, Fault* fault, lockstep::RankEnd* to) {
  if (!read_field<Access<RankEnd, 1>>(from, {.low = 0, .high = 10240000}, {"RankEnd", "rank"}, fault, to->rank)) return false;
  if (!read_field<Access<RankEnd, 2>>(from, {}, {"RankEnd", "exit_code"}, fault, to->exit_code)) return false;
  if (!read_field<Access<RankEnd, 3>>(from, {.low = 0, .high = 128}, {"RankEnd", "signal"}, fault, to->signal)) return false;
  if (!read_field<Access<RankEnd, 4>>(from, {}, {"RankEnd", "started"}, fault, to->started)) return false;
  if (!read_field<Access<RankEnd, 5>>(from, {}, {"RankEnd", "terminated_by_us"}, fault, to->terminated_by_us)) return false;
  if (!read_field<Access<RankEnd, 6>>(from, {}, {"RankEnd", "failed"}, fault, to->failed)) return false;
  if (!read_field<Access<RankEnd, 7>>(from, {}, {"RankEnd", "time"}, fault, to->time)) return false;
  return true;
}
void to_wire(const lockstep::ClockOffset& from, ClockOffset* to) {
  write_field<Access<ClockOffset, 1>>(from.ahead, {.low = -3162240000000000000}, *to);
  write_field<Access<ClockOffset, 2>>(from.uncertainty, {}, *to);
}
bool from_wire(const ClockOffset& from, Fault* fault, lockstep::ClockOffset* to) {
  if (!read_field<Access<ClockOffset, 1>>(from, {.low = -3162240000000000000}, {"ClockOffset", "ahead"}, fault, to->ahead)) return false;
  if (!read_field<Access<ClockOffset, 2>>(from, {}, {"ClockOffset", "uncertainty"}, fault, to->uncertainty)) return false;
  return true;
}
void to_wire(const lockstep::PossibleFirst& from, PossibleFirst* to) {
  write_field<Access<PossibleFirst, 1>>(from.cause, {}, *to);
  write_field<Access<PossibleFirst, 2>>(from.rank, {.low = 0, .high = 10240000}, *to);
  write_field<Access<PossibleFirst, 3>>(from.node, {}, *to);
  write_field<Access<PossibleFirst, 4>>(from.node_name, {}, *to);
  write_field<Access<PossibleFirst, 5>>(from.time, {}, *to);
  write_field<Access<PossibleFirst, 6>>(from.message, {.cut = true}, *to);
}
bool from_wire(const PossibleFirst& from, Fault* fault, lockstep::PossibleFirst* to) {
  if (!read_field<Access<PossibleFirst, 1>>(from, {}, {"PossibleFirst", "cause"}, fault, to->cause)) return false;
  if (!read_field<Access<PossibleFirst, 2>>(from, {.low = 0, .high = 10240000}, {"PossibleFirst", "rank"}, fault, to->rank)) return false;
  if (!read_field<Access<PossibleFirst, 3>>(from, {}, {"PossibleFirst", "node"}, fault, to->node)) return false;
  if (!read_field<Access<PossibleFirst, 4>>(from, {}, {"PossibleFirst", "node_name"}, fault, to->node_name)) return false;
  if (!read_field<Access<PossibleFirst, 5>>(from, {}, {"PossibleFirst", "time"}, fault, to->time)) return false;
  if (!read_field<Access<PossibleFirst, 6>>(from, {.cut = true}, {"PossibleFirst", "message"}, fault, to->message)) return false;
  return true;
}
void to_wire(const lockstep::NodeClock& from, NodeClock* to) {
  write_field<Access<NodeClock, 1>>(from.node_name, {}, *to);
  write_field<Access<NodeClock, 2>>(from.offset, {}, *to);
}
bool from_wire(const NodeClock& from, Fault* fault, lockstep::NodeClock* to) {
  if (!read_field<Access<NodeClock, 1>>(from, {}, {"NodeClock", "node_name"}, fault, to->node_name)) return false;
  if (!read_field<Access<NodeClock, 2>>(from, {}, {"NodeClock", "offset"}, fault, to->offset)) return false;
  return true;
}
void to_wire(const lockstep::ExitReport& from, ExitReport* to) {
  write_field<Access<ExitReport, 1>>(from.cause, {}, *to);
  write_field<Access<ExitReport, 2>>(from.exit_code, {}, *to);
  write_field<Access<ExitReport, 3>>(from.rank, {.low = 0, .high = 10240000}, *to);
  write_field<Access<ExitReport, 4>>(from.node, {}, *to);
  write_field<Access<ExitReport, 5>>(from.node_name, {}, *to);
  write_field<Access<ExitReport, 6>>(from.time, {}, *to);
  write_field<Access<ExitReport, 7>>(from.message, {.cut = true}, *to);
  write_field<Access<ExitReport, 8>>(from.stderr_tail, {.cut = true}, *to);
  write_field<Access<ExitReport, 9>>(from.terminated_ranks, {.low = 0, .high = 10240000, .count = 10240000}, *to);
  write_field<Access<ExitReport, 69>>(from.also, {.count = 8}, *to);
  write_field<Access<ExitReport, 70>>(from.clocks, {.count = 8}, *to);
  write_field<Access<ExitReport, 71>>(from.lifetime, {}, *to);
  write_field<Access<ExitReport, 701>>(from.lost_peer, {}, *to);
  write_field<Access<ExitReport, 710>>(from.backtrace, {.cut = true}, *to);
}
bool from_wire(const ExitReport& from, Fault* fault, lockstep::ExitReport* to) {
  if (!read_field<Access<ExitReport, 1>>(from, {}, {"ExitReport", "cause"}, fault, to->cause)) return false;
  if (!read_field<Access<ExitReport, 2>>(from, {}, {"ExitReport", "exit_code"}, fault, to->exit_code)) return false;
  if (!read_field<Access<ExitReport, 3>>(from, {.low = 0, .high = 10240000}, {"ExitReport", "rank"}, fault, to->rank)) return false;
  if (!read_field<Access<ExitReport, 4>>(from, {}, {"ExitReport", "node"}, fault, to->node)) return false;
  if (!read_field<Access<ExitReport, 5>>(from, {}, {"ExitReport", "node_name"}, fault, to->node_name)) return false;
  if (!read_field<Access<ExitReport, 6>>(from, {}, {"ExitReport", "time"}, fault, to->time)) return false;
  if (!read_field<Access<ExitReport, 7>>(from, {.cut = true}, {"ExitReport", "message"}, fault, to->message)) return false;
  if (!read_field<Access<ExitReport, 8>>(from, {.cut = true}, {"ExitReport", "stderr_tail"}, fault, to->stderr_tail)) return false;
  if (!read_field<Access<ExitReport, 9>>(from, {.low = 0, .high = 10240000, .count = 10240000}, {"ExitReport", "terminated_ranks"}, fault, to->terminated_ranks)) return false;
  if (!read_field<Access<ExitReport, 69>>(from, {.count = 8}, {"ExitReport", "also"}, fault, to->also)) return false;
  if (!read_field<Access<ExitReport, 70>>(from, {.count = 8}, {"ExitReport", "clocks"}, fault, to->clocks)) return false;
  if (!read_field<Access<ExitReport, 71>>(from, {}, {"ExitReport", "lifetime"}, fault, to->lifetime)) return false;
  if (!read_field<Access<ExitReport, 701>>(from, {}, {"ExitReport", "lost_peer"}, fault, to->lost_peer)) return false;
  if (!read_field<Access<ExitReport, 710>>(from, {.cut = true}, {"ExitReport", "backtrace"}, fault, to->backtrace)) return false;
  return true;
}
void to_wire(const lockstep::GpuDevice& from, GpuDevice* to) {
  write_field<Access<GpuDevice, 1>>(from.index, {.low = 0, .high = 65536}, *to);
  write_field<Access<GpuDevice, 2>>(from.uuid, {}, *to);
  write_field<Access<GpuDevice, 3>>(from.name, {}, *to);
  write_field<Access<GpuDevice, 4>>(from.pci_bus_id, {}, *to);
  write_field<Access<GpuDevice, 5>>(from.memory, {}, *to);
  write_field<Access<GpuDevice, 6>>(from.numa_node, {.low = -1, .high = 65536}, *to);
}
bool from_wire(const GpuDevice& from, Fault* fault, lockstep::GpuDevice* to) {
  if (!read_field<Access<GpuDevice, 1>>(from, {.low = 0, .high = 65536}, {"GpuDevice", "index"}, fault, to->index)) return false;
  if (!read_field<Access<GpuDevice, 2>>(from, {}, {"GpuDevice", "uuid"}, fault, to->uuid)) return false;
  if (!read_field<Access<GpuDevice, 3>>(from, {}, {"GpuDevice", "name"}, fault, to->name)) return false;
  if (!read_field<Access<GpuDevice, 4>>(from, {}, {"GpuDevice", "pci_bus_id"}, fault, to->pci_bus_id)) return false;
  if (!read_field<Access<GpuDevice, 5>>(from, {}, {"GpuDevice", "memory"}, fault, to->memory)) return false;
  if (!read_field<Access<GpuDevice, 6>>(from, {.low = -1, .high = 65536}, {"GpuDevice", "numa_node"}, fault, to->numa_node)) return false;
  return true;
}
void to_wire(const lockstep::NetworkInterface& from, NetworkInterface* to) {
  write_field<Access<NetworkInterface, 1>>(from.name, {}, *to);
  write_field<Access<NetworkInterface, 2>>(from.addresses, {.count = 4096}, *to);
  write_field<Access<NetworkInterface, 3>>(from.speed_mbps, {.low = -1}, *to);
  write_field<Access<NetworkInterface, 4>>(from.up, {}, *to);
  write_field<Access<NetworkInterface, 5>>(from.loopback, {}, *to);
}
bool from_wire(const NetworkInterface& from, Fault* fault, lockstep::NetworkInterface* to) {
  if (!read_field<Access<NetworkInterface, 1>>(from, {}, {"NetworkInterface", "name"}, fault, to->name)) return false;
  if (!read_field<Access<NetworkInterface, 2>>(from, {.count = 4096}, {"NetworkInterface", "addresses"}, fault, to->addresses)) return false;
  if (!read_field<Access<NetworkInterface, 3>>(from, {.low = -1}, {"NetworkInterface", "speed_mbps"}, fault, to->speed_mbps)) return false;
  if (!read_field<Access<NetworkInterface, 4>>(from, {}, {"NetworkInterface", "up"}, fault, to->up)) return false;
  if (!read_field<Access<NetworkInterface, 5>>(from, {}, {"NetworkInterface", "loopback"}, fault, to->loopback)) return false;
  return true;
}
void to_wire(const lockstep::LimitCaps& from, LimitCaps* to) {
  write_field<Access<LimitCaps, 1>>(from.pids, {.low = 0, .high = 4194304}, *to);
  write_field<Access<LimitCaps, 2>>(from.log, {}, *to);
  write_field<Access<LimitCaps, 3>>(from.disk, {}, *to);
}
bool from_wire(const LimitCaps& from, Fault* fault, lockstep::LimitCaps* to) {
  if (!read_field<Access<LimitCaps, 1>>(from, {.low = 0, .high = 4194304}, {"LimitCaps", "pids"}, fault, to->pids)) return false;
  if (!read_field<Access<LimitCaps, 2>>(from, {}, {"LimitCaps", "log"}, fault, to->log)) return false;
  if (!read_field<Access<LimitCaps, 3>>(from, {}, {"LimitCaps", "disk"}, fault, to->disk)) return false;
  return true;
}
void to_wire(const lockstep::RdmaPort& from, RdmaPort* to) {
  write_field<Access<RdmaPort, 1>>(from.device, {.bytes = 256}, *to);
  write_field<Access<RdmaPort, 2>>(from.port, {.low = 0, .high = 255}, *to);
  write_field<Access<RdmaPort, 3>>(from.state, {.bytes = 256}, *to);
  write_field<Access<RdmaPort, 4>>(from.rate_gbps, {.low = 0, .high = 1048576}, *to);
  write_field<Access<RdmaPort, 5>>(from.link_layer, {.bytes = 256}, *to);
  write_field<Access<RdmaPort, 6>>(from.subnet_prefix, {.bytes = 256}, *to);
  write_field<Access<RdmaPort, 7>>(from.pkeys, {.low = 0, .high = 65535, .count = 128}, *to);
}
bool from_wire(const RdmaPort& from, Fault* fault, lockstep::RdmaPort* to) {
  if (!read_field<Access<RdmaPort, 1>>(from, {.bytes = 256}, {"RdmaPort", "device"}, fault, to->device)) return false;
  if (!read_field<Access<RdmaPort, 2>>(from, {.low = 0, .high = 255}, {"RdmaPort", "port"}, fault, to->port)) return false;
  if (!read_field<Access<RdmaPort, 3>>(from, {.bytes = 256}, {"RdmaPort", "state"}, fault, to->state)) return false;
  if (!read_field<Access<RdmaPort, 4>>(from, {.low = 0, .high = 1048576}, {"RdmaPort", "rate_gbps"}, fault, to->rate_gbps)) return false;
  if (!read_field<Access<RdmaPort, 5>>(from, {.bytes = 256}, {"RdmaPort", "link_layer"}, fault, to->link_layer)) return false;
  if (!read_field<Access<RdmaPort, 6>>(from, {.bytes = 256}, {"RdmaPort", "subnet_prefix"}, fault, to->subnet_prefix)) return false;
  if (!read_field<Access<RdmaPort, 7>>(from, {.low = 0, .high = 65535, .count = 128}, {"RdmaPort", "pkeys"}, fault, to->pkeys)) return false;
  return true;
}
void to_wire(const lockstep::Inventory& from, Inventory* to) {
  write_field<Access<Inventory, 1>>(from.hostname, {}, *to);
  write_field<Access<Inventory, 2>>(from.os, {}, *to);
  write_field<Access<Inventory, 3>>(from.kernel, {}, *to);
  write_field<Access<Inventory, 4>>(from.architecture, {}, *to);
  write_field<Access<Inventory, 5>>(from.cpus, {.low = 0, .high = 1048576, .count = 1048576}, *to);
  write_field<Access<Inventory, 6>>(from.sockets, {.low = 0, .high = 65536}, *to);
  write_field<Access<Inventory, 7>>(from.numa_nodes, {.low = 0, .high = 65536}, *to);
  write_field<Access<Inventory, 8>>(from.memory, {}, *to);
  write_field<Access<Inventory, 9>>(from.disk_free, {}, *to);
  write_field<Access<Inventory, 10>>(from.gpus, {.count = 1024}, *to);
  write_field<Access<Inventory, 11>>(from.interfaces, {.count = 4096}, *to);
  write_field<Access<Inventory, 12>>(from.address, {}, *to);
  write_field<Access<Inventory, 13>>(from.address_is_loopback, {}, *to);
  write_field<Access<Inventory, 14>>(from.host_id, {}, *to);
  write_field<Access<Inventory, 15>>(from.network, {}, *to);
  write_field<Access<Inventory, 16>>(from.user, {}, *to);
  write_field<Access<Inventory, 17>>(from.isolation, {}, *to);
  write_field<Access<Inventory, 18>>(from.workdir_mode, {}, *to);
  write_field<Access<Inventory, 19>>(from.limitations, {.count = 1000}, *to);
  write_field<Access<Inventory, 20>>(from.glibc, {}, *to);
  write_field<Access<Inventory, 21>>(from.cuda, {}, *to);
  write_field<Access<Inventory, 40>>(from.caps, {}, *to);
  write_field<Access<Inventory, 41>>(from.container_engine, {}, *to);
  write_field<Access<Inventory, 60>>(from.rdma_ports, {.count = 128}, *to);
  write_field<Access<Inventory, 128>>(from.unenforced, {.count = 16}, *to);
}
bool from_wire(const Inventory& from, Fault* fault, lockstep::Inventory* to) {
  if (!read_field<Access<Inventory, 1>>(from, {}, {"Inventory", "hostname"}, fault, to->hostname)) return false;
  if (!read_field<Access<Inventory, 2>>(from, {}, {"Inventory", "os"}, fault, to->os)) return false;
  if (!read_field<Access<Inventory, 3>>(from, {}, {"Inventory", "kernel"}, fault, to->kernel)) return false;
  if (!read_field<Access<Inventory, 4>>(from, {}, {"Inventory", "architecture"}, fault, to->architecture)) return false;
  if (!read_field<Access<Inventory, 5>>(from, {.low = 0, .high = 1048576, .count = 1048576}, {"Inventory", "cpus"}, fault, to->cpus)) return false;
  if (!read_field<Access<Inventory, 6>>(from, {.low = 0, .high = 65536}, {"Inventory", "sockets"}, fault, to->sockets)) return false;
  if (!read_field<Access<Inventory, 7>>(from, {.low = 0, .high = 65536}, {"Inventory", "numa_nodes"}, fault, to->numa_nodes)) return false;
  if (!read_field<Access<Inventory, 8>>(from, {}, {"Inventory", "memory"}, fault, to->memory)) return false;
  if (!read_field<Access<Inventory, 9>>(from, {}, {"Inventory", "disk_free"}, fault, to->disk_free)) return false;
  if (!read_field<Access<Inventory, 10>>(from, {.count = 1024}, {"Inventory", "gpus"}, fault, to->gpus)) return false;
  if (!read_field<Access<Inventory, 11>>(from, {.count = 4096}, {"Inventory", "interfaces"}, fault, to->interfaces)) return false;
  if (!read_field<Access<Inventory, 12>>(from, {}, {"Inventory", "address"}, fault, to->address)) return false;
  if (!read_field<Access<Inventory, 13>>(from, {}, {"Inventory", "address_is_loopback"}, fault, to->address_is_loopback)) return false;
  if (!read_field<Access<Inventory, 14>>(from, {}, {"Inventory", "host_id"}, fault, to->host_id)) return false;
  if (!read_field<Access<Inventory, 15>>(from, {}, {"Inventory", "network"}, fault, to->network)) return false;
  if (!read_field<Access<Inventory, 16>>(from, {}, {"Inventory", "user"}, fault, to->user)) return false;
  if (!read_field<Access<Inventory, 17>>(from, {}, {"Inventory", "isolation"}, fault, to->isolation)) return false;
  if (!read_field<Access<Inventory, 18>>(from, {}, {"Inventory", "workdir_mode"}, fault, to->workdir_mode)) return false;
  if (!read_field<Access<Inventory, 19>>(from, {.count = 1000}, {"Inventory", "limitations"}, fault, to->limitations)) return false;
  if (!read_field<Access<Inventory, 20>>(from, {}, {"Inventory", "glibc"}, fault, to->glibc)) return false;
  if (!read_field<Access<Inventory, 21>>(from, {}, {"Inventory", "cuda"}, fault, to->cuda)) return false;
  if (!read_field<Access<Inventory, 40>>(from, {}, {"Inventory", "caps"}, fault, to->caps)) return false;
  if (!read_field<Access<Inventory, 41>>(from, {}, {"Inventory", "container_engine"}, fault, to->container_engine)) return false;
  if (!read_field<Access<Inventory, 60>>(from, {.count = 128}, {"Inventory", "rdma_ports"}, fault, to->rdma_ports)) return false;
  if (!read_field<Access<Inventory, 128>>(from, {.count = 16}, {"Inventory", "unenforced"}, fault, to->unenforced)) return false;
  return true;
}
void to_wire(const lockstep::SshHost& from, SshHost* to) {
  write_field<Access<SshHost, 1>>(from.name, {.bytes = 1024}, *to);
  write_field<Access<SshHost, 2>>(from.address, {.bytes = 1024}, *to);
  write_field<Access<SshHost, 3>>(from.user, {.bytes = 1024}, *to);
  write_field<Access<SshHost, 4>>(from.port, {.low = 0, .high = 65535}, *to);
  write_field<Access<SshHost, 5>>(from.key, {}, *to);
  write_field<Access<SshHost, 6>>(from.password_secret, {}, *to);
  write_field<Access<SshHost, 7>>(from.secret_owner, {}, *to);
  write_field<Access<SshHost, 8>>(from.jump, {.bytes = 1024}, *to);
  write_field<Access<SshHost, 9>>(from.directory, {}, *to);
}
bool from_wire(const SshHost& from, Fault* fault, lockstep::SshHost* to) {
  if (!read_field<Access<SshHost, 1>>(from, {.bytes = 1024}, {"SshHost", "name"}, fault, to->name)) return false;
  if (!read_field<Access<SshHost, 2>>(from, {.bytes = 1024}, {"SshHost", "address"}, fault, to->address)) return false;
  if (!read_field<Access<SshHost, 3>>(from, {.bytes = 1024}, {"SshHost", "user"}, fault, to->user)) return false;
  if (!read_field<Access<SshHost, 4>>(from, {.low = 0, .high = 65535}, {"SshHost", "port"}, fault, to->port)) return false;
  if (!read_field<Access<SshHost, 5>>(from, {}, {"SshHost", "key"}, fault, to->key)) return false;
  if (!read_field<Access<SshHost, 6>>(from, {}, {"SshHost", "password_secret"}, fault, to->password_secret)) return false;
  if (!read_field<Access<SshHost, 7>>(from, {}, {"SshHost", "secret_owner"}, fault, to->secret_owner)) return false;
  if (!read_field<Access<SshHost, 8>>(from, {.bytes = 1024}, {"SshHost", "jump"}, fault, to->jump)) return false;
  if (!read_field<Access<SshHost, 9>>(from, {}, {"SshHost", "directory"}, fault, to->directory)) return false;
  return true;
}
void to_wire(const lockstep::Scale& from, Scale* to) {
  write_field<Access<Scale, 1>>(from.tier, {}, *to);
  write_field<Access<Scale, 2>>(from.min_instances, {.low = 0}, *to);
  write_field<Access<Scale, 3>>(from.max_instances, {.low = 0}, *to);
  write_field<Access<Scale, 4>>(from.idle_time, {}, *to);
}
bool from_wire(const Scale& from, Fault* fault, lockstep::Scale* to) {
  if (!read_field<Access<Scale, 1>>(from, {}, {"Scale", "tier"}, fault, to->tier)) return false;
  if (!read_field<Access<Scale, 2>>(from, {.low = 0}, {"Scale", "min_instances"}, fault, to->min_instances)) return false;
  if (!read_field<Access<Scale, 3>>(from, {.low = 0}, {"Scale", "max_instances"}, fault, to->max_instances)) return false;
  if (!read_field<Access<Scale, 4>>(from, {}, {"Scale", "idle_time"}, fault, to->idle_time)) return false;
  return true;
}
void to_wire(const lockstep::ComputeSpec& from, ComputeSpec* to) {
  write_field<Access<ComputeSpec, 1>>(from.name, {.bytes = 1024}, *to);
  write_field<Access<ComputeSpec, 2>>(from.type, {}, *to);
  write_field<Access<ComputeSpec, 3>>(from.description, {}, *to);
  write_field<Access<ComputeSpec, 4>>(from.location, {}, *to);
  write_field<Access<ComputeSpec, 5>>(from.tags, {.count = 640}, *to);
  write_field<Access<ComputeSpec, 6>>(from.source, {}, *to);
  write_field<Access<ComputeSpec, 7>>(from.hosts, {.count = 2000}, *to);
  write_field<Access<ComputeSpec, 8>>(from.tunnel, {}, *to);
  write_field<Access<ComputeSpec, 9>>(from.size, {.bytes = 1024}, *to);
  write_field<Access<ComputeSpec, 10>>(from.scale, {}, *to);
  write_field<Access<ComputeSpec, 11>>(from.settings, {.bytes = 65536, .count = 64}, *to);
  write_field<Access<ComputeSpec, 40>>(from.instance.idle_time, {}, *to);
  write_field<Access<ComputeSpec, 42>>(from.labels, {.count = 640}, *to);
}
bool from_wire(const ComputeSpec& from, Fault* fault, lockstep::ComputeSpec* to) {
  if (!read_field<Access<ComputeSpec, 1>>(from, {.bytes = 1024}, {"ComputeSpec", "name"}, fault, to->name)) return false;
  if (!read_field<Access<ComputeSpec, 2>>(from, {}, {"ComputeSpec", "type"}, fault, to->type)) return false;
  if (!read_field<Access<ComputeSpec, 3>>(from, {}, {"ComputeSpec", "description"}, fault, to->description)) return false;
  if (!read_field<Access<ComputeSpec, 4>>(from, {}, {"ComputeSpec", "location"}, fault, to->location)) return false;
  if (!read_field<Access<ComputeSpec, 5>>(from, {.count = 640}, {"ComputeSpec", "tags"}, fault, to->tags)) return false;
  if (!read_field<Access<ComputeSpec, 6>>(from, {}, {"ComputeSpec", "source"}, fault, to->source)) return false;
  if (!read_field<Access<ComputeSpec, 7>>(from, {.count = 2000}, {"ComputeSpec", "hosts"}, fault, to->hosts)) return false;
  if (!read_field<Access<ComputeSpec, 8>>(from, {}, {"ComputeSpec", "tunnel"}, fault, to->tunnel)) return false;
  if (!read_field<Access<ComputeSpec, 9>>(from, {.bytes = 1024}, {"ComputeSpec", "size"}, fault, to->size)) return false;
  if (!read_field<Access<ComputeSpec, 10>>(from, {}, {"ComputeSpec", "scale"}, fault, to->scale)) return false;
  if (!read_field<Access<ComputeSpec, 11>>(from, {.bytes = 65536, .count = 64}, {"ComputeSpec", "settings"}, fault, to->settings)) return false;
  if (!read_field<Access<ComputeSpec, 40>>(from, {}, {"ComputeSpec", "shutdown_after"}, fault, to->instance.idle_time)) return false;
  if (!read_field<Access<ComputeSpec, 42>>(from, {.count = 640}, {"ComputeSpec", "labels"}, fault, to->labels)) return false;
  return true;
}
void to_wire(const lockstep::AttemptId& from, AttemptId* to) {
  write_field<Access<AttemptId, 1>>(from.job, {}, *to);
  write_field<Access<AttemptId, 2>>(from.number, {.low = 1}, *to);
  write_field<Access<AttemptId, 3>>(from.incarnation, {}, *to);
}
bool from_wire(const AttemptId& from, Fault* fault, lockstep::AttemptId* to) {
  if (!read_field<Access<AttemptId, 1>>(from, {}, {"AttemptId", "job"}, fault, to->job)) return false;
  if (!read_field<Access<AttemptId, 2>>(from, {.low = 1}, {"AttemptId", "number"}, fault, to->number)) return false;
  if (!read_field<Access<AttemptId, 3>>(from, {}, {"AttemptId", "era"}, fault, to->incarnation)) return false;
  return true;
}
void to_wire(const launcher::TokenCreated& from, TokenCreated* to) {
  write_field<Access<TokenCreated, 1>>(from.secret_hash, {}, *to);
  write_field<Access<TokenCreated, 2>>(from.expires, {}, *to);
  write_field<Access<TokenCreated, 3>>(from.uses, {}, *to);
  write_field<Access<TokenCreated, 4>>(from.approval, {}, *to);
  write_field<Access<TokenCreated, 5>>(from.pool, {}, *to);
  write_field<Access<TokenCreated, 6>>(from.machine, {}, *to);
  write_field<Access<TokenCreated, 7>>(from.by, {}, *to);
}
bool from_wire(const TokenCreated& from, Fault* fault, launcher::TokenCreated* to) {
  if (!read_field<Access<TokenCreated, 1>>(from, {}, {"TokenCreated", "secret_hash"}, fault, to->secret_hash)) return false;
  if (!read_field<Access<TokenCreated, 2>>(from, {}, {"TokenCreated", "expires"}, fault, to->expires)) return false;
  if (!read_field<Access<TokenCreated, 3>>(from, {}, {"TokenCreated", "uses"}, fault, to->uses)) return false;
  if (!read_field<Access<TokenCreated, 4>>(from, {}, {"TokenCreated", "approval"}, fault, to->approval)) return false;
  if (!read_field<Access<TokenCreated, 5>>(from, {}, {"TokenCreated", "pool"}, fault, to->pool)) return false;
  if (!read_field<Access<TokenCreated, 6>>(from, {}, {"TokenCreated", "machine"}, fault, to->machine)) return false;
  if (!read_field<Access<TokenCreated, 7>>(from, {}, {"TokenCreated", "by"}, fault, to->by)) return false;
  return true;
}
void to_wire(const launcher::PartGone& from, PartGone* to) {
  write_field<Access<PartGone, 1>>(from.attempt, {}, *to);
  write_field<Access<PartGone, 2>>(from.node, {}, *to);
  write_field<Access<PartGone, 3>>(from.cause, {}, *to);
  write_field<Access<PartGone, 4>>(from.why, {.cut = true}, *to);
  write_field<Access<PartGone, 5>>(from.fenced_until, {}, *to);
  write_field<Access<PartGone, 6>>(from.revoked, {}, *to);
}
bool from_wire(const PartGone& from, Fault* fault, launcher::PartGone* to) {
  if (!read_field<Access<PartGone, 1>>(from, {}, {"PartGone", "attempt"}, fault, to->attempt)) return false;
  if (!read_field<Access<PartGone, 2>>(from, {}, {"PartGone", "node"}, fault, to->node)) return false;
  if (!read_field<Access<PartGone, 3>>(from, {}, {"PartGone", "cause"}, fault, to->cause)) return false;
  if (!read_field<Access<PartGone, 4>>(from, {.cut = true}, {"PartGone", "why"}, fault, to->why)) return false;
  if (!read_field<Access<PartGone, 5>>(from, {}, {"PartGone", "fenced_until"}, fault, to->fenced_until)) return false;
  if (!read_field<Access<PartGone, 6>>(from, {}, {"PartGone", "revoked"}, fault, to->revoked)) return false;
  return true;
}
}

namespace lockstep::means {
#define MEANS(Domain, Wire) \
  void write(const Domain& from, pb::Wire* to) { pb::to_wire(from, to); } \
  Status read(const pb::Wire& from, Domain* to) { return pb::from_message(from, to); }
MEANS(ExitReport, ExitReport)
MEANS(RankExit, RankExit)
MEANS(ComputeSpec, ComputeSpec)
MEANS(Inventory, Inventory)
MEANS(launcher::PartGone, PartGone)
MEANS(launcher::TokenCreated, TokenCreated)
MEANS(ResourceRequest, ResourceRequest)
}
