#include "launcher/api/json/compute.h"

#include "launcher/api/json/value.h"
#include "launcher/api/json/why.h"

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
  json["secret_owner"] = host.password_secret.empty() ? "" : host.secret_owner;
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
  json["reason_data"] = reason_json(machine.failure_data);
  json["count"] = machine.failures;
  json["retry_at"] = time_or_null(machine.retry_at);
  return json;
}

Json machine_json(const MachineView& machine) {
  Json json;
  json["name"] = machine.name;
  json["state"] = machine.state;
  json["why"] = machine.why;
  json["reason_data"] = reason_json(machine.why_data);
  json["since"] = time_or_null(machine.since);
  json["step"] = machine.step;
  json["node"] = machine.node;
  json["about"] = map_of(machine.about);
  json["about_reason_data"] = reason_json(machine.waits_data);
  json["failure"] = failure_json(machine);
  return json;
}

Json event_json(const ComputeEvent& event) {
  Json json;
  json["time"] = time_or_null(event.at);
  json["machine"] = event.machine;
  json["text"] = event.text;
  json["reason_data"] = reason_json(event.why_data);
  return json;
}

Json settings_json(const ComputeSpec& spec) {
  Json json = Json::object();
  for (const auto& [name, words] : spec.settings) json[name] = words;
  return json;
}

Json numbers_or_null(const std::vector<int>& numbers) {
  return numbers.empty() ? Json() : Json(numbers);
}

Json trigger_json(const Trigger& trigger) {
  Json json;
  const auto* cron = std::get_if<CronTrigger>(&trigger.when);
  const auto* recurrence = std::get_if<Recurrence>(&trigger.when);
  json["type"] = cron != nullptr ? "cron" : "recurrence";
  json["expression"] = cron == nullptr ? Json() : Json(cron->expression);
  json["frequency"] =
      recurrence == nullptr ? Json() : Json(std::string(to_string(recurrence->frequency)));
  json["interval"] = recurrence == nullptr ? Json() : Json(recurrence->interval);
  json["schedule"] = nullptr;
  if (recurrence != nullptr) {
    Json days = Json::array();
    for (const int day : recurrence->week_days) days.push_back(std::string(week_day_name(day)));
    json["schedule"] = {{"hours", numbers_or_null(recurrence->hours)},
                        {"minutes", numbers_or_null(recurrence->minutes)},
                        {"week_days", days.empty() ? Json() : std::move(days)},
                        {"month_days", numbers_or_null(recurrence->month_days)}};
  }
  const auto local = [](const std::optional<LocalTime>& time) {
    return time ? Json(to_string(*time)) : Json();
  };
  json["start_time"] = local(trigger.start_time);
  json["end_time"] = local(trigger.end_time);
  json["time_zone"] = trigger.time_zone.empty() ? std::string(kUtc) : trigger.time_zone;
  return json;
}

// The keys of a compute instance. They are null for targets of other types.
void add_instance(const ComputeView& compute, Json& json) {
  for (const char* key : {"state", "idle_time_before_shutdown_minutes", "schedules",
                          "last_operation", "next_operation"})
    json[key] = nullptr;
  if (!is_instance(compute.spec)) return;
  const InstanceView& instance = compute.instance;
  const InstanceSettings& settings = compute.spec.instance;
  json["state"] = instance.state;
  if (settings.idle_time != Duration::zero())
    json["idle_time_before_shutdown_minutes"] =
        std::chrono::duration<double, std::ratio<60>>(settings.idle_time).count();
  Json schedules = Json::array();
  for (const InstanceSchedule& schedule : settings.schedules)
    schedules.push_back({{"action", std::string(to_string(schedule.action))},
                         {"state", schedule.enabled ? "enabled" : "disabled"},
                         {"trigger", trigger_json(schedule.trigger)}});
  json["schedules"] = {{"compute_start_stop", std::move(schedules)}};
  json["last_operation"] = {{"time", time_or_null(instance.changed)},
                            {"cause", std::string(to_string(instance.cause))},
                            {"why", instance.why},
                            {"reason_data", reason_json(instance.why_data)}};
  if (instance.next_at.ns != 0)
    json["next_operation"] = {{"action", std::string(to_string(instance.next_action))},
                              {"time", time_or_null(instance.next_at)},
                              {"local_time", instance.next_local}};
}

// With az's names where az has them; null for a target that is no cluster.
void add_scale(const ComputeView& compute, Json& json) {
  const ComputeSpec& spec = compute.spec;
  const bool has_scale = is_elastic(spec), is_cluster = has_scale && !is_instance(spec);
  const auto of_cluster = [&](auto value) { return is_cluster ? Json(value) : Json(); };
  json["size"] = has_scale ? Json(spec.size) : Json();
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
                     {"reason_data", reason_json(scaling.why_data)},
                     {"failure", scaling.failure},
                     {"failure_reason_data", reason_json(scaling.failure_data)},
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
  json["tags"] = map_of(spec.tags);
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
  add_instance(compute, json);
  json["machines"] = list_of<MachineView>(compute.machines, machine_json);
  json["leaving"] = compute.leaving;
  json["leaving_reason_data"] = reason_json(compute.leaving_data);
  json["history"] = list_of<ComputeEvent>(compute.history, event_json);
  json["lockstep"] = {{"node_source", std::string(to_string(spec.source))},
                      {"tunnel", std::string(to_string(spec.tunnel))},
                      {"settings", settings_json(spec)},
                      {"labels", map_of(spec.labels)},
                      {"hosts", list_of<SshHost>(spec.hosts, host_json)}};
  return json;
}

Json to_json(const std::vector<ComputeView>& computes) {
  return list_of<ComputeView>(computes, to_json);
}

}  // namespace lockstep::api
