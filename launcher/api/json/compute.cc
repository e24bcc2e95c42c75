#include "launcher/api/json/compute.h"

#include "launcher/api/json/value.h"

#include <algorithm>

namespace lockstep::api {
namespace {

Json host_json(const SshHost& host) {
  Json json;
  json["name"] = host.name;
  json["address"] = host.address;
  json["user"] = host.user;
  json["port"] = host.port == 0 ? Json() : Json(host.port);
  json["key"] = host.key;
  json["password_secret"] = host.password_secret;
  json["secret_owner"] = host.secret_owner;
  json["jump"] = host.jump;
  json["directory"] = host.directory;
  return json;
}

Json failure_json(const MachineView& machine) {
  if (machine.failed_code.empty() && machine.failure.empty()) return nullptr;
  Json json;
  json["step"] = machine.failed_step;
  json["code"] = machine.failed_code;
  json["message"] = machine.failure;
  json["count"] = machine.failures;
  json["retry_at"] = time_or_null(machine.retry_at);
  return json;
}

Json machine_json(const MachineView& machine) {
  Json json;
  json["name"] = machine.name;
  json["state"] = machine.state;
  json["why"] = machine.why;
  json["since"] = time_or_null(machine.since);
  json["step"] = machine.step;
  json["node"] = machine.node;
  json["about"] = map_of(machine.about);
  json["failure"] = failure_json(machine);
  return json;
}

Json event_json(const ComputeEvent& event) {
  Json json;
  json["time"] = time_or_null(event.at);
  json["machine"] = event.machine;
  json["text"] = event.text;
  return json;
}

Json settings_json(const ComputeSpec& spec) {
  Json json = Json::object();
  for (const auto& [name, words] : spec.settings) json[name] = words;
  return json;
}

// With az's names where az has them; null for a target that is no cluster.
void add_scale(const ComputeView& compute, Json& json) {
  const ComputeSpec& spec = compute.spec;
  const bool has_scale = is_elastic(spec);
  const auto of_cluster = [&](auto value) { return has_scale ? Json(value) : Json(); };
  json["size"] = of_cluster(spec.size);
  json["tier"] = of_cluster(std::string(to_string(spec.scale.tier)));
  json["min_instances"] = of_cluster(spec.scale.min_instances);
  json["max_instances"] = of_cluster(spec.scale.max_instances);
  json["idle_time_before_scale_down"] =
      of_cluster(std::chrono::duration_cast<std::chrono::seconds>(spec.scale.idle_time).count());
  json["scaling"] = nullptr;
  if (!has_scale) return;
  const ScalingView& scaling = compute.scaling;
  json["scaling"] = {{"wanted", scaling.wanted},
                     {"preparing", scaling.preparing},
                     {"leaving", scaling.leaving},
                     {"changed_at", time_or_null(scaling.changed)},
                     {"why", scaling.why},
                     {"failure", scaling.failure},
                     {"retry_at", time_or_null(scaling.retry_at)}};
}

// In az's words. A target some of whose machines have nodes can be used.
const char* provisioning_state(const ComputeView& compute) {
  const auto all_are = [&](auto is) {
    return !compute.machines.empty() &&
           std::all_of(compute.machines.begin(), compute.machines.end(), is);
  };
  if (!compute.leaving.empty()) return "Deleting";
  if (is_elastic(compute.spec)) return "Succeeded";  // the cluster is there, also without machines
  if (all_are([](const MachineView& machine) { return machine.state == "failed"; }))
    return "Failed";
  if (all_are([](const MachineView& machine) { return machine.node.empty(); })) return "Creating";
  return "Succeeded";
}

}  // namespace

Json to_json(const ComputeView& compute) {
  const ComputeSpec& spec = compute.spec;
  Json json;
  json["name"] = spec.name;
  json["type"] = std::string(to_string(spec.type));
  json["location"] = spec.location;
  json["description"] = spec.description;
  json["tags"] = Json::object();
  for (const auto& [name, value] : spec.tags) json["tags"][name] = value;
  json["provisioning_state"] = provisioning_state(compute);
  json["pool"] = compute.pool;
  json["created_at"] = time_or_null(compute.created);
  json["created_by"] = compute.created_by;
  json["nodes"] = {{"total", compute.nodes.total},
                   {"idle", compute.nodes.idle},
                   {"busy", compute.nodes.busy},
                   {"unavailable", compute.nodes.unavailable}};
  json["jobs"] = {{"queued", compute.queued_jobs}, {"running", compute.running_jobs}};
  add_scale(compute, json);
  json["machines"] = list_of<MachineView>(compute.machines, machine_json);
  json["leaving"] = compute.leaving;
  json["history"] = list_of<ComputeEvent>(compute.history, event_json);
  json["lockstep"] = {{"node_source", std::string(to_string(spec.source))},
                      {"tunnel", spec.tunnel},
                      {"settings", settings_json(spec)},
                      {"hosts", list_of<SshHost>(spec.hosts, host_json)}};
  return json;
}

Json to_json(const std::vector<ComputeView>& computes) {
  return list_of<ComputeView>(computes, to_json);
}

}  // namespace lockstep::api
