#pragma once
// The JSON type of this folder, and the shapes that its files share. Times are texts in UTC
// (common/base/time.h), sizes are bytes, what is absent is null. Each kind of object has a file in
// docs/schema that says what its keys are; scripts read them, so keys are only added.

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
// Whole seconds, or with a fraction where they have one.
Json seconds_of(Duration duration);

template <typename View>
Json list_of(const std::vector<View>& views, Json (*one)(const View&)) {
  Json list = Json::array();
  for (const auto& view : views) list.push_back(one(view));
  return list;
}

}  // namespace lockstep::api
