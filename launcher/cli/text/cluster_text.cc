#include "launcher/cli/text/view_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/targets/compute.h"
#include "launcher/cli/terminal/labelled_lines.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/phrases.h"
#include "launcher/cli/text/targets/usage_view.h"

namespace lockstep::cli {

namespace {

std::string counts(const std::map<std::string, int>& map) {
  std::string text;
  for (const auto& [word, count] : map)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  return text.empty() ? "none" : text;
}

std::string caps_of(const LimitCaps& caps) {
  std::vector<std::string> all;
  if (caps.pids != 0) all.push_back(with_commas(caps.pids) + " processes a rank");
  if (caps.log.count != 0) all.push_back(to_string(caps.log) + " of logs");
  if (caps.disk.count != 0) all.push_back(to_string(caps.disk) + " of disk");
  return all.empty() ? "" : fmt::format("at most {}", fmt::join(all, ", "));
}

std::string node_state(const NodeView& node) {
  return std::string(to_string(node.liveness)) + (node.waits_for_approval ? ",unapproved" : "") +
         (node.draining ? ",draining" : "");
}

}  // namespace

// "200 ms behind the launcher's (± 0.4 ms)".
std::string in_words(const ClockOffset& offset) {
  const Duration by = std::chrono::abs(offset.ahead);
  const std::string how_much =
      by < seconds(10) ? fmt::format("{:.2f} s", std::chrono::duration<double>(by).count())
                       : format_duration(std::chrono::floor<seconds>(by));
  const double known = std::chrono::duration<double, std::milli>(offset.uncertainty).count();
  return fmt::format("{} {} the launcher's (± {:.1f} ms)", how_much,
                     offset.ahead > Duration(0) ? "ahead of" : "behind", known);
}

std::string clock_trouble(const NodeView& node) {
  // the tolerance for agents whose clock offset is not measured
  constexpr Duration kAllowed = seconds(5);
  const Duration ahead = node.clock_ahead;
  if (node.clock_uncertainty) {
    const ClockOffset offset{ahead, *node.clock_uncertainty};
    if (std::chrono::abs(ahead) <= kNotableOffset + offset.uncertainty) return "";
    return "its clock is " + in_words(offset);
  }
  if (ahead < kAllowed && ahead > -kAllowed) return "";
  return fmt::format("its clock is {} {} the launcher's",
                     format_duration(std::chrono::floor<seconds>(std::chrono::abs(ahead))),
                     ahead > Duration(0) ? "ahead of" : "behind");
}

namespace {

std::string agent_version(const NodeView& node) {
  if (node.agent_version.empty()) return "-";
  return node.agent_version + (node.other_version ? " (differs)" : "");
}

}  // namespace

std::string node_table(const std::vector<NodeView>& nodes) {
  if (nodes.empty()) return "no nodes; try: lockstep up --nodes 2\n";
  // The column is left out if all nodes belong to target local.
  const bool has_targets = std::any_of(nodes.begin(), nodes.end(), [](const NodeView& node) {
    return !node.compute.empty() && node.compute != kLocalCompute;
  });
  std::vector<std::string> head{"NAME",    "STATE", "CPUS",  "MEMORY", "GPUS",
                                "ADDRESS", "JOBS",  "AGENT", "REASON"};
  if (has_targets) head.insert(head.begin() + 1, "COMPUTE");
  Table table(head);
  for (const auto& node : nodes) {
    std::vector<std::string> row{node.name,
                                 node_state(node),
                                 std::to_string(node.inventory.cpus.size()),
                                 to_string(node.inventory.memory),
                                 std::to_string(node.inventory.gpus.size()),
                                 node.inventory.address,
                                 std::to_string(node.attempts.size()),
                                 agent_version(node),
                                 node.reason.empty() ? clock_trouble(node) : node.reason};
    if (has_targets) row.insert(row.begin() + 1, node.compute);
    table.add(std::move(row));
  }
  return table.text();
}

namespace {

// "mlx5_0:1 ACTIVE, 200 Gb/s, InfiniBand, subnet fe80:0000:0000:0000, pkeys 0x8001 0x7fff"
std::string rdma_port_text(const RdmaPort& port) {
  std::string text = fmt::format("{}:{} {}", port.device, port.port, port.state);
  if (port.rate_gbps != 0) text += fmt::format(", {} Gb/s", port.rate_gbps);
  if (!port.link_layer.empty()) text += ", " + port.link_layer;
  if (!port.subnet_prefix.empty()) text += ", subnet " + port.subnet_prefix;
  if (port.pkeys.empty()) return text;
  text += ", pkeys";
  for (const int pkey : port.pkeys) text += fmt::format(" 0x{:04x}", pkey);
  return text;
}

// ", but the launcher has 0.6.0; …" and what to do; "" if the versions are equal. A node with a
// reason may take no jobs.
std::string version_difference(const NodeView& node, const std::string& launcher_version) {
  if (!node.other_version) return "";
  const bool takes_jobs = node.liveness == Liveness::alive && !node.draining &&
                          !node.waits_for_approval && node.reason.empty();
  const bool is_known = !launcher_version.empty();
  return fmt::format("{}{}; install {} on the node and restart lockstep-agent (jobs go on)",
                     is_known ? ", but the launcher has " + launcher_version
                              : ", another version than the launcher's (`lockstep status`)",
                     takes_jobs ? "; jobs still run there" : "",
                     is_known ? launcher_version : "the launcher's version");
}

void add_standing(Lines& lines, const NodeView& node, Instant now,
                  const std::string& launcher_version) {
  lines.add("name", node.name);
  lines.add("node id", std::to_string(node.id.value));
  lines.add("compute", node.compute);
  lines.add("state", node_state(node));
  lines.add("reason", node.reason);
  for (const auto& [key, value] : node.labels) lines.add("label", fmt::format("{}={}", key, value));
  lines.add("last heard", ago(node.last_heard, now));
  lines.add("clock", clock_trouble(node));
  if (!node.agent_version.empty())
    lines.add("agent", fmt::format("lockstep-agent {}{}", node.agent_version,
                                   version_difference(node, launcher_version)));
}

void add_machine(Lines& lines, const Inventory& have) {
  lines.add("host",
            fmt::format("{} ({}, {}, {})", have.hostname, have.os, have.kernel, have.architecture));
  lines.add("glibc", have.glibc);
  lines.add("cuda", have.cuda);
  if (have.container_engine)
    lines.add("containers",
              have.container_engine->empty() ? "no engine was found" : *have.container_engine);
  lines.add("cpus", fmt::format("{} ({}); {} socket(s), {} NUMA node(s)", have.cpus.size(),
                                ranges_of(have.cpus), have.sockets, have.numa_nodes));
  lines.add("memory", to_string(have.memory));
  lines.add("disk free", to_string(have.disk_free));
}

void add_use_now(Lines& lines, const NodeView& node) {
  const NodeUseLines use = node_use_lines(node);
  lines.add("uses now", use.cpu);
  lines.add("memory used", use.memory);
  for (const std::string& gpu : use.gpus) lines.add("gpu use", gpu);
  lines.add("disk used", use.disk);
  lines.add("traffic", use.network);
  lines.add("measured", use.age);
}

void add_devices(Lines& lines, const Inventory& have) {
  for (const auto& gpu : have.gpus)
    lines.add(fmt::format("gpu {}", gpu.index),
              fmt::format("{}, {}, {}", gpu.name, to_string(gpu.memory), gpu.pci_bus_id));
  for (const auto& nic : have.interfaces)
    lines.add("interface", fmt::format("{} {} {}", nic.name, nic.up ? "up" : "down",
                                       fmt::join(nic.addresses, ", ")));
  for (const auto& port : have.rdma_ports) lines.add("rdma", rdma_port_text(port));
}

void add_blob_traffic(Lines& lines, const NodeView& node) {
  if (!(node.blobs == BlobTraffic{}))
    lines.add("fetched",
              fmt::format("{} from the launcher, {} from other nodes; sent {} to other nodes",
                          to_string(Bytes{node.blobs.from_launcher_bytes}),
                          to_string(Bytes{node.blobs.from_peers_bytes}),
                          to_string(Bytes{node.blobs.to_peers_bytes})));
  if (node.blobs.lies > 0)
    lines.add("sent wrong data",
              fmt::format("{} times, the last: {}", node.blobs.lies, node.blobs.last_lie));
}

}  // namespace

std::string node_text(const NodeView& node, Instant now, const std::string& launcher_version) {
  const Inventory& have = node.inventory;
  Lines lines;
  add_standing(lines, node, now, launcher_version);
  add_machine(lines, have);
  add_use_now(lines, node);
  add_devices(lines, have);
  lines.add("address", have.address);
  lines.add("network", have.network);
  lines.add("user", have.user);
  lines.add("isolation", have.isolation);
  lines.add("workdir", have.workdir_mode);
  lines.add("allows a job", caps_of(have.caps));
  for (const auto& limitation : have.limitations) lines.add("cannot", limitation);
  add_blob_traffic(lines, node);
  for (const auto& attempt : node.attempts) lines.add("runs", to_string(attempt));
  for (const NodeEvent& event : node.history)
    lines.add("event", fmt::format("{}  {}{}{}", to_string(event.at), event.what,
                                   event.message.empty() ? "" : ": ", event.message));
  return lines.text();
}

namespace {

// "jobs that have ended: 365d, the newest 100000, 100.0 GiB of logs"
std::string kept_text(const Retention& keeps) {
  std::vector<std::string> limits;
  constexpr Duration kDay = minutes(24 * 60);
  if (keeps.jobs_for > Duration(0))
    limits.push_back(keeps.jobs_for % kDay == Duration(0)
                         ? fmt::format("for {}d", keeps.jobs_for / kDay)
                         : "for " + format_duration(keeps.jobs_for));
  if (keeps.jobs != 0) limits.push_back(fmt::format("the newest {}", keeps.jobs));
  if (keeps.logs.count != 0) limits.push_back(to_string(keeps.logs) + " of logs");
  if (keeps.outputs.count != 0) limits.push_back(to_string(keeps.outputs) + " of outputs");
  return "jobs that have ended: " +
         (limits.empty() ? "all" : fmt::format("{}", fmt::join(limits, ", ")));
}

}  // namespace

std::string status_text(const LauncherStatus& status, Instant now) {
  Lines lines;
  lines.add("launcher",
            fmt::format("running, version {}, pid {}, up since {} ({})", status.version, status.pid,
                        to_string(status.started), ago(status.started, now)));
  lines.add("home", status.home);
  lines.add("endpoint", status.endpoint);
  lines.add("nodes", counts(status.nodes) + (status.draining == 0
                                                 ? ""
                                                 : fmt::format("; {} of them draining: no new jobs",
                                                               status.draining)));
  lines.add("jobs", counts(status.jobs));
  lines.add("keeps", kept_text(status.keeps));
  if (status.low_space.count != 0)
    lines.add("disk", status.low_reason.empty()
                          ? fmt::format("{} free; below {}, the launcher takes no new work",
                                        to_string(status.disk_free), to_string(status.low_space))
                          : status.low_reason);
  const DiskWrites& writes = status.writes;
  if (writes.slow_for != Duration(0))
    lines.add("disk is slow",
              fmt::format("a write of the journal has taken {} so far; requests wait for it, and "
                          "running jobs go on",
                          format_duration(writes.slow_for)));
  if (writes.last_slow != Duration(0))
    lines.add("slow write",
              fmt::format("the last one of the journal took {}, until {} ({})",
                          format_duration(writes.last_slow), to_string(writes.last_slow_ended),
                          ago(writes.last_slow_ended, now)));
  return lines.text();
}

}  // namespace lockstep::cli
