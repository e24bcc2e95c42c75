"""Puts the tables of the prototype into copies of the domain headers (tree/)."""
import re
def put(path, struct, name, lines):
    text = open(path).read()
    start = text.index(f"struct {struct} {{")
    end = text.index(f"  friend bool operator==(const {struct}&" if f"friend bool operator==(const {struct}&" in text else "  friend auto operator<=>(const AttemptId&", start)
    body = "".join(f"    {l}\n" for l in lines)
    table = f'  static constexpr const char* kName = "{name}";\n  template <class S, class See>\n  static void fields(S& s, See&& see) {{\n{body}  }}\n'
    text = text[:end] + table + text[end:]
    open(path, "w").write(text)
def include(path, what='#include "common/base/fields.h"\n'):
    text = open(path).read()
    i = text.index('#include "common/base/') if '#include "common/base/' in text else text.index("#include <")
    open(path, "w").write(text[:i] + what + text[i:])
D = "tree/common/domain/"
E_ = D + "exit_report.h"
put(E_, "RankEnd", "rank_end", [
 'see(at<1>, "rank", s.rank, "The rank, counted over the whole job.", {.low = 0, .high = kMaxRankNumber});',
 'see(at<2>, "exit_code", s.exit_code, "Its exit code; 128 and the number if a signal killed it.");',
 'see(at<3>, "signal", s.signal, "The signal that killed it; 0: it exited by itself.", {.low = 0, .high = 128});',
 'see(at<4>, "started", s.started, "It ran.");',
 'see(at<5>, "terminated_by_us", s.terminated_by_us, "Lockstep ended it.");',
 'see(at<6>, "failed", s.failed, "It failed.");',
 'see(at<7>, "time", s.time, "When it ended; null: unknown.");'])
put(E_, "LostPeer", "lost_peer", [
 'see(at<1>, "address", s.address, "The peer\'s address, as the rank wrote it; null: for those who may not read the job.", {.bytes = kMaxPeerAddressBytes, .null = true});',
 'see(at<2>, "node_rank", shifted<1>(s.node_rank), "The node with that address; null: unknown.", {.low = 0, .high = kMaxNodesPerGang, .null = true, .none = -1});',
 'see(at<3>, "end", s.end, "How the rank there ended; null: unknown.");',
 'see(at<4>, "left", s.left, "All ranks of that node had exited with code 0.");'])
put(E_, "RankExit", "rank_exit", [
 'see(at<1>, "rank", s.rank, "The rank, counted over the whole job.", {.low = 0, .high = kMaxRankNumber});',
 'see(at<2>, "local_rank", s.local_rank, "The rank, counted on its node.", {.low = 0, .high = kMaxRankNumber});',
 'see(at<3>, "exit_code", s.exit_code, "Its exit code, if no signal killed it.");',
 'see(at<4>, "signal", s.signal, "The signal that killed it; 0: it exited by itself.", {.low = 0, .high = 128});',
 'see(at<5>, "cause", s.cause, "Why it ended.");',
 'see(at<6>, "terminated_by_us", s.terminated_by_us, "Lockstep had sent it SIGTERM or SIGKILL before.");',
 'see(at<7>, "started", s.started, "It ran.");',
 'see(at<8>, "time", s.time, "When it ended, by the node\'s clock.");',
 'see(at<9>, "stderr_tail", s.stderr_tail, "The last lines of its standard error.", {.cut = true});',
 'see(at<10>, "detail", s.detail, "More, in words.", {.cut = true});',
 'see(at<20>, "cpu_time", s.cpu_time, "Cpu time of it and of what it started; 0: unknown.");',
 'see(at<21>, "peak_memory", s.peak_memory, "The most memory that they had at once; 0: unknown.");',
 'see(at<22>, "read", s.read, "What they read from storage.");',
 'see(at<23>, "written", s.written, "What they wrote to storage.");',
 'see(at<700>, "lost_peer", s.lost_peer, "A connection to this peer was closed before; null: its last output names none.");',
 'see(at<710>, "backtrace", s.backtrace, "The stack of the thread that failed.", {.cut = true});'])
put(E_, "ClockOffset", "clock", []) if False else None
t = open(E_).read()
i = t.index("  friend auto operator<=>(const ClockOffset&")
t = t[:i] + '''  static constexpr const char* kName = "clock";
  template <class S, class See>
  static void fields(S& s, See&& see) {
    see(at<1>, "ahead", s.ahead, "Its clock minus the launcher's.", {.low = -kHundredYearsNs, .key = "ahead_seconds"});
    see(at<2>, "uncertainty", s.uncertainty, "The true value is within so much of it.", {.key = "uncertainty_seconds"});
  }
''' + t[i:]
open(E_, "w").write(t)
put(E_, "PossibleFirst", "also", [
 'see(at<1>, "cause", s.cause, "As `cause` of the report.");',
 'see(at<2>, "rank", s.rank, "null: the node as a whole failed.", {.low = 0, .high = kMaxRankNumber});',
 'see(at<3>, "node", s.node, "Its node\'s number.", {.key = ""});',
 'see(at<4>, "node_name", s.node_name, "Its node.");',
 'see(at<5>, "time", s.time, "When it failed, by the launcher\'s clock.");',
 'see(at<6>, "message", s.message, "In words.", {.cut = true});'])
put(E_, "NodeClock", "clocks", [
 'see(at<1>, "node_name", s.node_name, "The node.");',
 'see(at<2>, "offset", s.offset, "Its clock.");'])
put(E_, "ExitReport", "report", [
 'see(at<1>, "cause", s.cause, "Why it ended; completed: every rank exited with code 0.");',
 'see(at<2>, "exit_code", s.exit_code, "What `lockstep run` exits with: the code of the first rank that failed, 128 and the signal\'s number, or 124 to 130 for causes of Lockstep\'s.");',
 'see(at<3>, "rank", s.rank, "The first rank that failed, counted over the whole job; null: it was none.", {.low = 0, .high = kMaxRankNumber});',
 'see(at<4>, "node", s.node, "Its node\'s number.", {.key = ""});',
 'see(at<5>, "node_name", s.node_name, "The node of that rank; null: it concerns no one node.", {.null = true});',
 'see(at<6>, "time", s.time, "When it failed.");',
 'see(at<7>, "message", s.message, "The reason in words; empty for those who may not read the job.", {.cut = true});',
 'see(at<8>, "stderr_tail", s.stderr_tail, "The last lines of the rank\'s standard error, at most 4096 bytes.", {.cut = true});',
 'see(at<710>, "backtrace", s.backtrace, "The stack of the thread that failed, a frame in a line, the innermost first; empty: there is none (`lockstep.core`).", {.cut = true});',
 'see(at<701>, "lost_peer", s.lost_peer, "The rank failed after a connection to a peer was closed; null: its last output names none.");',
 'see(at<9>, "terminated_ranks", s.terminated_ranks, "Ranks that were ended because of it.", {.low = 0, .high = kMaxRankNumber, .count = kMaxRankNumber});',
 'see(at<69>, "also", s.also, "Failures that may have come first: the nodes\' clocks are not known well enough to say which did.", {.count = kMaxPossibleFirst});',
 'see(at<70>, "clocks", s.clocks, "The nodes of the attempt whose clocks differ from the launcher\'s by more than 0.1 s; all times are corrected by that.", {.count = kMaxNodeClocks});',
 'see(at<71>, "lifetime", s.lifetime, "How long its machine lives; 0: that is not the cause.", {.key = ""});',
 'see(nowhere, "hang", s.hang, "");'])
t = open(E_).read()
t = t.replace('''inline constexpr std::size_t kMaxPeerAddressBytes = 256;\n''', "").replace("// Why an attempt ended.", '''inline constexpr std::size_t kMaxPeerAddressBytes = 256;
inline constexpr int kMaxRankNumber = 10'000 * 1'024;
inline constexpr int kMaxNodesPerGang = 10'000;
inline constexpr std::int64_t kHundredYearsNs = std::int64_t{100} * 366 * 86'400 * 1'000'000'000;
// Why an attempt ended.''').replace("std::string_view to_string(Cause cause);", "std::string_view to_string(Cause cause);\nWord describe(Cause cause);")
open(E_, "w").write(t); include(E_)

put("tree/common/base/ids.h", "AttemptId", "attempt", [
 'see(at<1>, "job", s.job, "The job.");',
 'see(at<2>, "number", s.number, "Its number, from 1.", {.low = 1});',
 'see(at<3>, "era", s.incarnation, "Tells attempts of one name and number apart.", {.key = ""});'])
include("tree/common/base/ids.h")
L = D + "limits.h"
put(L, "LimitCaps", "caps", [
 'see(at<1>, "pids", s.pids, "Processes and threads of one rank; null: no cap.", {.low = 0, .high = kMostPidsLimit, .null = true});',
 'see(at<2>, "log", s.log, "Bytes that the ranks of one node may write to their standard streams; null: no cap.", {.null = true});',
 'see(at<3>, "disk", s.disk, "Bytes of disk that an attempt may fill on one node; null: no cap.", {.null = true});'])
include(L)
C = D + "compute.h"
put(C, "SshHost", "host", [
 'see(at<1>, "name", s.name, "Unique in the target; the machine\'s and the node\'s name.", {.bytes = 1\'024});',
 'see(at<2>, "address", s.address, "A host name, an IP address, or a Host of ssh\'s configuration.", {.bytes = 1\'024});',
 'see(at<3>, "user", s.user, "The account; empty: what ssh\'s configuration says.", {.bytes = 1\'024});',
 'see(at<4>, "port", s.port, "null: what ssh\'s configuration says.", {.low = 0, .high = 65\'535, .null = true});',
 'see(at<5>, "key", s.key, "Path of a private key on the launcher\'s machine; empty: what ssh\'s configuration says.");',
 'see(at<6>, "password_secret", s.password_secret, "Name of the secret that is the password; empty: none.");',
 'see(at<7>, "secret_owner", s.secret_owner, "Whose secret it is.");',
 'see(at<8>, "jump", s.jump, "The host through which ssh connects; empty: directly.", {.bytes = 1\'024});',
 'see(at<9>, "directory", s.directory, "Where everything is installed; empty: below ~/.lockstep, of root below /var/lib/lockstep.");'])
put(C, "Scale", "scale", [
 'see(at<1>, "tier", s.tier, "dedicated or low_priority.");',
 'see(at<2>, "min_instances", s.min_instances, "The fewest machines.", {.low = 0});',
 'see(at<3>, "max_instances", s.max_instances, "The most machines.", {.low = 0});',
 'see(at<4>, "idle_time", s.idle_time, "After so long without work a machine is removed.");'])
put(C, "InstanceSettings", "instance", [
 'see(nowhere, "idle_time", s.idle_time, "");',
 'see(nowhere, "schedules", s.schedules, "");'])
put(C, "ComputeSpec", "compute", [
 'see(at<1>, "name", s.name, "Its name.", {.bytes = 1\'024});',
 'see(at<2>, "type", s.type, "What its machines are.");',
 'see(at<3>, "description", s.description, "For people.");',
 'see(at<4>, "location", s.location, "For people.");',
 'see(at<5>, "tags", s.tags, "Its tags.", {.count = 10 * kMaxComputeTags});',
 'see(at<6>, "node_source", s.source, "Where its nodes come from; empty: a target of type local has none of its own.");',
 'see(at<7>, "hosts", s.hosts, "The hosts that are attached over ssh.", {.count = 2 * kMaxHosts});',
 'see(at<8>, "tunnel", s.tunnel, "auto, always or never; empty: auto, or it has no hosts.");',
 'see(at<9>, "size", s.size, "The size of its machines.", {.bytes = 1\'024});',
 'see(at<10>, "scale", s.scale, "How many machines it has.", {.unless_empty = true});',
 'see(at<11>, "settings", s.settings, "What its provider was told, by name; each value is a list of texts.", {.bytes = 64u << 10, .count = 64});',
 'see(at<40>, "idle_time_before_shutdown", s.instance.idle_time, "It stops after so long without work; 0: never.");',
 'see(at<42>, "labels", s.labels, "Labels of each of its nodes, unless that has another value of its own.", {.count = 10 * kMaxNodeLabels});',
 'see(nowhere, "instance", s.instance, "");'])
t = open(C).read()
i = t.index("  friend bool operator==(const ComputeSpec&")
t = t[:i] + '''  // Targets of before 0.7 have no source on record: of a virtualmachine it was join.
  static void mend(ComputeSpec& s) {
    if (s.source == NodeSource::none && s.type != ComputeType::local) s.source = NodeSource::join;
  }
''' + t[i:]
for e in ("ComputeType type", "NodeSource source", "Tier tier"):
    t = t.replace(f"std::string_view to_string({e});", f"std::string_view to_string({e});\nWord describe({e});")
open(C, "w").write(t); include(C)
N = D + "node.h"
put(N, "GpuDevice", "gpu", [
 'see(at<1>, "index", s.index, "Its number, in the order of the PCI bus.", {.low = 0, .high = 1 << 16});',
 'see(at<3>, "name", s.name, "Its model.");',
 'see(at<2>, "uuid", s.uuid, "The driver\'s name for it; empty: it gives none.");',
 'see(at<4>, "pci_bus_id", s.pci_bus_id, "Where it is, such as 00000000:01:00.0.");',
 'see(at<5>, "memory", s.memory, "Bytes.");',
 'see(at<6>, "numa_node", s.numa_node, "Its NUMA node; -1: not known.", {.low = -1, .high = 1 << 16});'])
put(N, "NetworkInterface", "interface", [
 'see(at<1>, "name", s.name, "Its name.");',
 'see(at<2>, "addresses", s.addresses, "IPv4 and IPv6 addresses.", {.count = 4\'096});',
 'see(at<3>, "speed_mbps", s.speed_mbps, "Megabits a second; null: not known.", {.low = -1, .null = true, .none = -1});',
 'see(at<4>, "up", s.up, "It is up.");',
 'see(at<5>, "loopback", s.loopback, "It reaches only this node.");'])
put(N, "RdmaPort", "rdma", [
 'see(at<1>, "device", s.device, "The device, such as mlx5_0.", {.bytes = 256});',
 'see(at<2>, "port", s.port, "The port\'s number.", {.low = 0, .high = 255});',
 'see(at<3>, "state", s.state, "As the kernel has it: ACTIVE, DOWN, INIT, ….", {.bytes = 256});',
 'see(at<4>, "rate_gbps", s.rate_gbps, "Gigabits a second; null: not known.", {.low = 0, .high = 1 << 20, .null = true});',
 'see(at<5>, "link_layer", s.link_layer, "InfiniBand, or Ethernet for RoCE.", {.bytes = 256});',
 'see(at<6>, "subnet_prefix", s.subnet_prefix, "The upper half of its GID 0; empty: none.", {.bytes = 256});',
 'see(at<7>, "pkeys", s.pkeys, "Its partitions; the bit 0x8000 says that it is a full member.", {.low = 0, .high = 0xffff, .count = 128});'])
put(N, "Inventory", "inventory", [
 'see(at<1>, "hostname", s.hostname, "Its host name.");',
 'see(at<2>, "os", s.os, "Its distribution.");',
 'see(at<3>, "kernel", s.kernel, "Its kernel\'s release.");',
 'see(at<4>, "architecture", s.architecture, "Such as x86_64.");',
 'see(at<20>, "glibc", s.glibc, "The version of its C library; empty: not known.");',
 'see(at<21>, "cuda", s.cuda, "The newest CUDA that its driver runs; empty: none.");',
 'see(at<41>, "container_engine", s.container_engine, "The program that makes containers: docker, podman, or what the agent\'s LOCKSTEP_CONTAINER_ENGINE names; empty: none is there; null: its agent does not say.");',
 'see(at<5>, "cpus", s.cpus, "Numbers of the logical cpus that it offers.", {.low = 0, .high = 1 << 20, .count = 1 << 20});',
 'see(at<6>, "sockets", s.sockets, "Processor sockets.", {.low = 0, .high = 1 << 16});',
 'see(at<7>, "numa_nodes", s.numa_nodes, "NUMA nodes.", {.low = 0, .high = 1 << 16});',
 'see(at<8>, "memory", s.memory, "Bytes of memory that it offers.");',
 'see(at<9>, "disk_free", s.disk_free, "Free bytes where attempts are kept.");',
 'see(at<10>, "gpus", s.gpus, "Its GPUs, in the order of the PCI bus.", {.count = 1\'024});',
 'see(at<11>, "interfaces", s.interfaces, "Its network interfaces.", {.count = 4\'096});',
 'see(at<60>, "rdma_ports", s.rdma_ports, "Ports of its InfiniBand and RoCE devices.", {.count = 128});',
 'see(at<12>, "address", s.address, "The address that other nodes reach it at.");',
 'see(at<13>, "address_is_loopback", s.address_is_loopback, "That reaches only its own machine.", {.key = ""});',
 'see(at<14>, "host_id", s.host_id, "Equal for nodes of one host.", {.key = ""});',
 'see(at<15>, "network", s.network, "The network that it belongs to; nodes of one network reach each other.");',
 'see(at<16>, "user", s.user, "The account that its agent runs as.");',
 'see(at<17>, "isolation", s.isolation, "How it separates jobs.");',
 'see(at<18>, "workdir_mode", s.workdir_mode, "How working directories are made.");',
 'see(at<19>, "limitations", s.limitations, "What it cannot do, and what to do about it.", {.count = 1\'000});',
 'see(at<128>, "unenforced", s.unenforced, "The limits of jobs that the node cannot enforce (memory, pids), each with the reason; null: its agent does not report it.", {.count = 16});',
 'see(at<40>, "caps", s.caps, "The most that its operator allows a job.");',
 'see(nowhere, "fabric", s.fabric, "");'])
include(N)
J = D + "job_spec.h"
put(J, "ResourceRequest", "resources", [
 'see(at<1>, "instance_count", s.instance_count, "Nodes.", {.low = 1, .high = 10\'000});',
 'see(at<2>, "cpus", s.cpus, "Cpus of each node; null: all.", {.low = 1, .high = 1 << 20});',
 'see(at<3>, "memory", s.memory, "Bytes of memory of each node; null: all.");',
 'see(at<4>, "gpus", s.gpus, "GPUs of each node; null: all.", {.low = 0, .high = 1 << 16});',
 'see(at<5>, "isolate_gpus", s.isolate_gpus, "A rank sees only its own GPUs.");',
 'see(at<6>, "shm_size", s.shm_size, "Of /dev/shm; null: 2 GiB.");',
 'see(at<7>, "docker_args", s.docker_args, "Words for `docker run`.", {.count = 1\'000});',
 'see(at<60>, "instance_type", s.instance_type, "A size; empty: any.");',
 'see(at<61>, "isolated", s.isolated, "Nobody else is on the same machine.");',
 'see(at<62>, "rdma", s.rdma, "Whether its nodes must reach each other by RDMA.");',
 'see(at<63>, "labels", s.labels, "That each node must have.", {.count = 640});',
 'see(at<64>, "nodes", s.nodes, "Names of nodes; empty: any node of the target.", {.count = 10\'000});'])
t = open(J).read()
t = t.replace("std::string_view to_string(Rdma rdma);", "std::string_view to_string(Rdma rdma);\nWord describe(Rdma rdma);")
open(J, "w").write(t); include(J)
