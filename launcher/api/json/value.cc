#include "launcher/api/json/value.h"

#include <utility>

namespace lockstep::api {

Json time_or_null(Instant time) { return time.ns == 0 ? Json(nullptr) : Json(to_string(time)); }

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json map_of(const std::map<std::string, std::string>& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) add_new(json, key, value);
  return json;
}

void add_new(Json& object, std::string key, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(std::move(key), std::move(value));
}

Json seconds_of(Duration duration) {
  if (duration.count() % 1'000'000'000 == 0) return duration.count() / 1'000'000'000;
  return static_cast<double>(duration.count()) / 1e9;
}

}  // namespace lockstep::api
