#include "launcher/api/json/datastore.h"

#include <nlohmann/json.hpp>

namespace lockstep::api {

Json to_json(const DatastoreView& view) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  Json json;
  json["name"] = view.name;
  json["type"] = std::string(to_string(view.kind));
  json["directory"] = or_null(view.directory);
  json["remote"] = or_null(view.remote);
  json["read_only"] = view.read_only;
  json["users"] = view.users;
  json["projects"] = view.projects;
  return json;
}

Json to_json(const std::vector<DatastoreView>& views) {
  Json json = Json::array();
  for (const DatastoreView& view : views) json.push_back(to_json(view));
  return json;
}

}  // namespace lockstep::api
