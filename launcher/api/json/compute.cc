#include "launcher/api/json/compute.h"

#include "launcher/api/json/value.h"

namespace lockstep::api {

Json to_json(const ComputeView& compute) {
  const ComputeSpec& spec = compute.spec;
  Json json;
  json["name"] = spec.name;
  json["type"] = std::string(to_string(spec.type));
  json["location"] = spec.location;
  json["description"] = spec.description;
  json["tags"] = Json::object();
  for (const auto& [name, value] : spec.tags) json["tags"][name] = value;
  json["provisioning_state"] = "Succeeded";
  json["pool"] = compute.pool;
  json["created_at"] = time_or_null(compute.created);
  json["created_by"] = compute.created_by;
  json["nodes"] = {{"total", compute.nodes.total},
                   {"idle", compute.nodes.idle},
                   {"busy", compute.nodes.busy},
                   {"unavailable", compute.nodes.unavailable}};
  json["jobs"] = {{"queued", compute.queued_jobs}, {"running", compute.running_jobs}};
  return json;
}

Json to_json(const std::vector<ComputeView>& computes) {
  return list_of<ComputeView>(computes, to_json);
}

}  // namespace lockstep::api
