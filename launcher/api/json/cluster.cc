#include "launcher/api/json/cluster.h"

#include "launcher/api/json/fabric.h"
#include "launcher/api/json/usage.h"

namespace lockstep::api {

void keys(const GpuDevice& gpu, See& see) {
  see("index", gpu.index, "Its number, in the order of the PCI bus.");
  see("name", gpu.name, "Its model.");
  see("uuid", gpu.uuid, "The driver's name for it; empty: it gives none.");
  see("pci_bus_id", gpu.pci_bus_id, "Where it is, such as 00000000:01:00.0.");
  see("memory", gpu.memory, "Bytes.");
  see("numa_node", gpu.numa_node, "Its NUMA node; -1: not known.", {.low = -1});
}

void keys(const NetworkInterface& interface, See& see) {
  see("name", interface.name, "Its name.");
  see("addresses", interface.addresses, "IPv4 and IPv6 addresses.");
  see("speed_mbps", unless_negative(interface.speed_mbps), "Megabits a second; null: not known.");
  see("up", interface.up, "It is up.");
  see("loopback", interface.loopback, "It reaches only this node.");
}

void keys(const RdmaPort& port, See& see) {
  see("device", port.device, "The device, such as mlx5_0.");
  see("port", port.port, "The port's number.");
  see("state", port.state, "As the kernel has it: ACTIVE, DOWN, INIT, ….");
  see("rate_gbps", unless_zero(port.rate_gbps), "Gigabits a second; null: not known.");
  see("link_layer", port.link_layer, "InfiniBand, or Ethernet for RoCE.");
  see("subnet_prefix", port.subnet_prefix, "The upper half of its GID 0; empty: none.");
  see("pkeys", port.pkeys, "Its partitions; the bit 0x8000 says that it is a full member.");
}

void keys(const LimitCaps& caps, See& see) {
  see("pids", unless_zero(caps.pids), "Processes and threads of one rank; null: no cap.");
  see("log", unless_zero(caps.log),
      "Bytes that the ranks of one node may write to their standard streams; null: no cap.");
  see("disk", unless_zero(caps.disk),
      "Bytes of disk that an attempt may fill on one node; null: no cap.");
}

void keys(const Inventory& inventory, See& see) {
  see("hostname", inventory.hostname, "Its host name.");
  see("os", inventory.os, "Its distribution.");
  see("kernel", inventory.kernel, "Its kernel's release.");
  see("architecture", inventory.architecture, "Such as x86_64.");
  see("glibc", inventory.glibc, "The version of its C library; empty: not known.");
  see("cuda", inventory.cuda, "The newest CUDA that its driver runs; empty: none.");
  see("container_engine", inventory.container_engine,
      "The program that makes containers: docker, podman, or what the agent's "
      "LOCKSTEP_CONTAINER_ENGINE names; empty: none is there; null: its agent does not say.");
  see("cpus", inventory.cpus, "Numbers of the logical cpus that it offers.");
  see("sockets", inventory.sockets, "Processor sockets.");
  see("numa_nodes", inventory.numa_nodes, "NUMA nodes.");
  see("memory", inventory.memory, "Bytes of memory that it offers.");
  see("disk_free", inventory.disk_free, "Free bytes where attempts are kept.");
  see("gpus", inventory.gpus, "Its GPUs, in the order of the PCI bus.");
  see("interfaces", inventory.interfaces, "Its network interfaces.");
  see("rdma_ports", inventory.rdma_ports, "Ports of its InfiniBand and RoCE devices.");
  see("address", inventory.address, "The address that other nodes reach it at.");
  see("network", inventory.network,
      "The network that it belongs to; nodes of one network reach each other.");
  see("user", inventory.user, "The account that its agent runs as.");
  see("isolation", inventory.isolation, "How it separates jobs.");
  see("workdir_mode", inventory.workdir_mode, "How working directories are made.");
  see("limitations", inventory.limitations, "What it cannot do, and what to do about it.");
  see("unenforced", inventory.unenforced,
      "The limits of jobs that the node cannot enforce (memory, pids), each with the reason; null: "
      "its agent does not report it.");
  see("caps", inventory.caps, "The most that its operator allows a job.");
  see("fabric", inventory.fabric,
      "Its network and GPUs in full; null in `node list`, and where its agent does not say.");
}

void keys(const BlobTraffic& blobs, See& see) {
  see("from_launcher_bytes", blobs.from_launcher_bytes, "Bytes from the launcher.");
  see("from_peers_bytes", blobs.from_peers_bytes, "Bytes from other nodes.");
  see("to_peers_bytes", blobs.to_peers_bytes, "Bytes to other nodes.");
  see("lies", blobs.lies, "Fetches in which it sent another blob than the one asked for.");
  see("last_lie", blobs.last_lie, "The last of them, in words.");
}

void keys(const NodeEvent& event, See& see) {
  see("time", SetTime{event.at}, "When.");
  see("what", event.what, "One word: Joined, Lost, Returned, Drained, …");
  see("message", event.message, "More about it, in words; may be empty.");
  see("reason_data", event.why, "`message`, for programs.");
}

void keys(const NodeView& node, See& see) {
  const auto uncertainty =
      node.clock_uncertainty ? std::optional(exact_seconds(*node.clock_uncertainty)) : std::nullopt;
  std::vector<std::string> attempts;
  for (const AttemptId& attempt : node.attempts) attempts.push_back(to_string(attempt));
  see.page("node", "Node", "A node as `lockstep node show` prints it.");
  see("name", node.name, "Its name.");
  see("compute", node.compute.empty() ? kLocalCompute : std::string_view(node.compute),
      "The compute target whose node it is.");
  see("node_id", node.id, "Its number, which no other node ever has.");
  see("liveness", node.liveness, "ALIVE: heard of lately; LOST: given up.");
  see("draining", node.draining, "Nothing new is placed on it.");
  see("waits_for_approval", node.waits_for_approval,
      "It has joined, and gets nothing before an admin approves it.");
  see("reason", node.reason, "Why it cannot be used, in words; empty: it can.");
  see("reason_data", node.why, "`reason`, for programs.");
  see("labels", node.labels, "Its labels, as `lockstep node label` set them.");
  see("jobs", attempts, "Attempts that it holds, as NAME.NUMBER.");
  see("clock_ahead_seconds", exact_seconds(node.clock_ahead),
      "How far its clock is ahead of the launcher's, measured with heartbeats; negative: behind.",
      kAnyNumber);
  see("clock_uncertainty_seconds", uncertainty,
      "The true value is within so much of `clock_ahead_seconds`; null: it was not measured yet.");
  see("last_heard", node.last_heard, "When it was last heard of.");
  see("joined_at", node.joined, "When it joined.");
  see("inventory", node.inventory, "What it has.");
  see("blobs", node.blobs, "What it fetched and gave since the launcher started.");
  see("use", node.use, "What it uses now; null: it reports nothing.");
  see("agent_version", unless_empty(node.agent_version),
      "The version of its agent; null: unknown.");
  see("other_version", node.other_version, "The agent's version is not the launcher's.");
  see("history", node.history,
      "What happened to it, oldest first, the newest 50; empty without `--history`.");
}

void keys(const Retention& keeps, See& see) {
  see("jobs_for_seconds", unless_zero(keeps.jobs_for), "Seconds since their end.");
  see("jobs", unless_zero(keeps.jobs), "Jobs.");
  see("logs_bytes", unless_zero(keeps.logs), "Bytes of logs of all of them.");
  see("outputs_bytes", unless_zero(keeps.outputs), "Bytes of outputs of all of them.");
}

void keys(const LauncherStatus& status, See& see) {
  const auto free = status.low_space.count != 0 ? std::optional(status.disk_free) : std::nullopt;
  const DiskWrites& writes = status.writes;
  see.page("status", "Status", "What `lockstep status` and `lockstep up` print.");
  see("running", std::true_type{}, "A launcher runs.");
  see("version", status.version, "Its version.");
  see("endpoint", status.endpoint, "Where users' programs reach it.");
  see("pid", status.pid, "Its process.");
  see("home", status.home, "Its directory.");
  see("started_at", status.started, "When it started.");
  see("jobs", status.jobs, "How many jobs have each status.");
  see("nodes", status.nodes, "How many nodes have each liveness.");
  see("draining_nodes", status.draining,
      "How many of these nodes are drained: they take no new jobs.");
  see("keeps", status.keeps, "What it keeps of jobs that ended; null: as much as there is.");
  see.object(
      "disk",
      [&](See& see) {
        see("free_bytes", free, "Free bytes; null: an older launcher does not say.");
        see("low_space_bytes", unless_zero(status.low_space),
            "Below so many free bytes it takes no new work; null: no such bound.");
        see("low", !status.low_reason.empty(), "It takes no new work now.");
        see("reason", status.low_reason, "Why, in words; empty: it takes work.");
        see("slow_write_seconds", unless_zero(writes.slow_for),
            "How long a write of the journal has taken that is not done yet; null: none takes "
            "longer than a second. Requests wait for it.");
        see("last_slow_write_seconds", unless_zero(writes.last_slow),
            "How long the last write took that took longer than a second; null: none since the "
            "launcher's start.");
        see("last_slow_write_at", writes.last_slow_ended, "When it ended.");
      },
      "The file system of its home.");
}

void keys(const NoLauncher& none, See& see) {
  see("running", std::false_type{}, "No launcher runs.");
  see("home", none.home, "The directory that it would have.");
}

void keys(const NewToken& token, See& see) {
  see.page("token", "Join token", "What `lockstep node token` prints. The token is a secret.");
  see("token", token.token.token, "The text for the agent's token file.");
  see("expires", SetTime{token.token.expires}, "Until when nodes may join with it.");
  see("uses", token.uses, "How many nodes may.", kFromOne);
}

void keys(const TokenView& token, See& see) {
  see("id", token.id, "Its name for `node token revoke`; it tells nothing of the secret.");
  see("compute", token.compute, "The compute target of the nodes that join with it.");
  see("machine", unless_empty(token.machine),
      "The machine of that target whose agent alone may use it; null: any agent.");
  see("by", unless_empty(token.by),
      "Who made it; null: the launcher itself, or an earlier version.");
  see("created", token.created, "When; null: an earlier version made it.");
  see("expires", SetTime{token.expires}, "Until when nodes may join with it.");
  see("uses", token.uses, "How many nodes may join with it.");
  see("used", token.used, "How many have.");
  see("needs_approval", token.needs_approval,
      "Nodes that join with it get no work before an admin approves them.");
}

}  // namespace lockstep::api
