#include "launcher/api/json/cluster.h"

#include "launcher/api/json/fabric.h"
#include "launcher/api/json/usage.h"
#include "launcher/api/json/value.h"
#include "launcher/api/json/why.h"

namespace lockstep::api {

namespace {

Json caps_json(const LimitCaps& caps) {
  const auto said = [](auto number) { return number == 0 ? Json(nullptr) : Json(number); };
  return {
      {"pids", said(caps.pids)}, {"log", said(caps.log.count)}, {"disk", said(caps.disk.count)}};
}

Json gpu_json(const GpuDevice& gpu) {
  Json json;
  json["index"] = gpu.index;
  json["name"] = gpu.name;
  json["uuid"] = gpu.uuid;
  json["pci_bus_id"] = gpu.pci_bus_id;
  json["memory"] = gpu.memory.count;
  json["numa_node"] = gpu.numa_node;
  return json;
}

Json interface_json(const NetworkInterface& interface) {
  Json json;
  json["name"] = interface.name;
  json["addresses"] = interface.addresses;
  json["speed_mbps"] = interface.speed_mbps < 0 ? Json(nullptr) : Json(interface.speed_mbps);
  json["up"] = interface.up;
  json["loopback"] = interface.loopback;
  return json;
}

Json rdma_port_json(const RdmaPort& port) {
  Json json;
  json["device"] = port.device;
  json["port"] = port.port;
  json["state"] = port.state;
  json["rate_gbps"] = port.rate_gbps == 0 ? Json(nullptr) : Json(port.rate_gbps);
  json["link_layer"] = port.link_layer;
  json["subnet_prefix"] = port.subnet_prefix;
  json["pkeys"] = port.pkeys;
  return json;
}

Json inventory_json(const Inventory& inventory) {
  Json json;
  json["hostname"] = inventory.hostname;
  json["os"] = inventory.os;
  json["kernel"] = inventory.kernel;
  json["architecture"] = inventory.architecture;
  json["glibc"] = inventory.glibc;
  json["cuda"] = inventory.cuda;
  json["container_engine"] =
      inventory.container_engine ? Json(*inventory.container_engine) : Json(nullptr);
  json["cpus"] = inventory.cpus;
  json["sockets"] = inventory.sockets;
  json["numa_nodes"] = inventory.numa_nodes;
  json["memory"] = inventory.memory.count;
  json["disk_free"] = inventory.disk_free.count;
  json["gpus"] = Json::array();
  for (const auto& gpu : inventory.gpus) json["gpus"].push_back(gpu_json(gpu));
  json["interfaces"] = Json::array();
  for (const auto& nic : inventory.interfaces) json["interfaces"].push_back(interface_json(nic));
  json["rdma_ports"] = Json::array();
  for (const auto& port : inventory.rdma_ports) json["rdma_ports"].push_back(rdma_port_json(port));
  json["address"] = inventory.address;
  json["network"] = inventory.network;
  json["user"] = inventory.user;
  json["isolation"] = inventory.isolation;
  json["workdir_mode"] = inventory.workdir_mode;
  json["limitations"] = inventory.limitations;
  json["unenforced"] = inventory.unenforced ? Json(*inventory.unenforced) : Json(nullptr);
  json["caps"] = caps_json(inventory.caps);
  json["fabric"] = inventory.fabric ? to_json(*inventory.fabric) : Json(nullptr);
  return json;
}

}  // namespace

Json to_json(const NodeView& node) {
  Json json;
  json["name"] = node.name;
  json["compute"] = node.compute.empty() ? "local" : node.compute;
  json["node_id"] = node.id.value;
  json["liveness"] = std::string(to_string(node.liveness));
  json["draining"] = node.draining;
  json["waits_for_approval"] = node.waits_for_approval;
  json["reason"] = node.reason;
  json["reason_data"] = reason_json(node.why);
  json["labels"] = map_of(node.labels);
  json["jobs"] = Json::array();
  for (const auto& attempt : node.attempts) json["jobs"].push_back(to_string(attempt));
  json["clock_ahead_seconds"] = std::chrono::duration<double>(node.clock_ahead).count();
  json["clock_uncertainty_seconds"] =
      node.clock_uncertainty ? Json(std::chrono::duration<double>(*node.clock_uncertainty).count())
                             : Json(nullptr);
  json["last_heard"] = time_or_null(node.last_heard);
  json["joined_at"] = time_or_null(node.joined);
  json["inventory"] = inventory_json(node.inventory);
  json["blobs"] = {{"from_launcher_bytes", node.blobs.from_launcher_bytes},
                   {"from_peers_bytes", node.blobs.from_peers_bytes},
                   {"to_peers_bytes", node.blobs.to_peers_bytes},
                   {"lies", node.blobs.lies},
                   {"last_lie", node.blobs.last_lie}};
  json["use"] = node.use ? to_json(*node.use) : Json(nullptr);
  json["agent_version"] = node.agent_version.empty() ? Json(nullptr) : Json(node.agent_version);
  json["other_version"] = node.other_version;
  json["history"] = Json::array();
  for (const NodeEvent& event : node.history)
    json["history"].push_back({{"time", to_string(event.at)},
                               {"what", event.what},
                               {"message", event.message},
                               {"reason_data", reason_json(event.why)}});
  return json;
}

Json to_json(const LauncherStatus& status) {
  Json json;
  json["running"] = true;
  json["version"] = status.version;
  json["endpoint"] = status.endpoint;
  json["pid"] = status.pid;
  json["home"] = status.home;
  json["started_at"] = time_or_null(status.started);
  json["jobs"] = Json::object();
  for (const auto& [word, count] : status.jobs) json["jobs"][word] = count;
  json["nodes"] = Json::object();
  for (const auto& [word, count] : status.nodes) json["nodes"][word] = count;
  json["draining_nodes"] = status.draining;
  const auto limit = [](std::uint64_t value) { return value == 0 ? Json(nullptr) : Json(value); };
  const bool for_ever = status.keeps.jobs_for == Duration(0);
  json["keeps"] = {
      {"jobs_for_seconds", for_ever ? Json(nullptr) : Json(seconds_of(status.keeps.jobs_for))},
      {"jobs", limit(status.keeps.jobs)},
      {"logs_bytes", limit(status.keeps.logs.count)},
      {"outputs_bytes", limit(status.keeps.outputs.count)}};
  const bool told = status.low_space.count != 0;
  const DiskWrites& writes = status.writes;
  const auto duration_or_null = [](Duration value) {
    return value == Duration(0) ? Json(nullptr) : Json(seconds_of(value));
  };
  json["disk"] = {{"free_bytes", told ? Json(status.disk_free.count) : Json(nullptr)},
                  {"low_space_bytes", limit(status.low_space.count)},
                  {"low", !status.low_reason.empty()},
                  {"reason", status.low_reason},
                  {"slow_write_seconds", duration_or_null(writes.slow_for)},
                  {"last_slow_write_seconds", duration_or_null(writes.last_slow)},
                  {"last_slow_write_at", time_or_null(writes.last_slow_ended)}};
  return json;
}

Json to_json(const TokenReply& token, int uses) {
  return {{"token", token.token}, {"expires", to_string(token.expires)}, {"uses", uses}};
}

Json to_json(const TokenView& token) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return {{"id", token.id},
          {"compute", token.compute},
          {"machine", text_or_null(token.machine)},
          {"by", text_or_null(token.by)},
          {"created", time_or_null(token.created)},
          {"expires", to_string(token.expires)},
          {"uses", token.uses},
          {"used", token.used},
          {"needs_approval", token.needs_approval}};
}

Json to_json(const std::vector<TokenView>& tokens) { return list_of<TokenView>(tokens, to_json); }

Json to_json(const std::vector<NodeView>& nodes) { return list_of<NodeView>(nodes, to_json); }

}  // namespace lockstep::api
