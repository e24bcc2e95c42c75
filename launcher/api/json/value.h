#pragma once
// The JSON type that this folder's functions return, and helpers that they share. Times are texts
// in UTC (common/base/time.h), sizes are bytes, absent values are null. docs/schema has a file for
// each kind of object that lists its keys. Scripts depend on the keys, so they are only added to.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

Json time_or_null(Instant time);
Json text_or_null(const std::string& text);
Json map_of(const std::map<std::string, std::string>& map);
// Appends a key that the object does not have. json[key] = value looks for it among all others, so
// that an object with many keys would take time by their square.
void add_new(Json& object, std::string key, Json value);
// Seconds: an integer, or a number with a fraction if the duration has one.
Json seconds_of(Duration duration);

template <typename View>
Json list_of(const std::vector<View>& views, Json (*one)(const View&)) {
  Json list = Json::array();
  for (const auto& view : views) list.push_back(one(view));
  return list;
}

}  // namespace lockstep::api
