#include "launcher/compute/settings_object.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::compute {

using nlohmann::json;

Result<SettingsObject> SettingsObject::open(const json& object, std::string where,
                                            std::initializer_list<std::string_view> keys) {
  if (!object.is_object())
    return make_error(ErrorCode::invalid_argument, where + " is not an object");
  for (const auto& [key, value] : object.items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      return make_error(ErrorCode::invalid_argument, where + " has the unknown key '" + key + "'");
  return SettingsObject(object, std::move(where));
}

Error SettingsObject::bad(const std::string& key, const std::string& why) const {
  return make_error(ErrorCode::invalid_argument, where_ + "." + key + " " + why);
}

Result<std::string> SettingsObject::text(const char* key) const {
  const auto it = object_.find(key);
  if (it == object_.end()) return std::string();
  if (!it->is_string()) return bad(key, "is not a string");
  auto text = it->get<std::string>();
  if (text.find('\0') != std::string::npos) return bad(key, "contains a NUL byte");
  return text;
}

Result<std::optional<std::int64_t>> SettingsObject::integer(const char* key, std::int64_t least,
                                                            std::int64_t most) const {
  const auto it = object_.find(key);
  if (it == object_.end()) return std::optional<std::int64_t>();
  if (!it->is_number_integer() || *it < least || *it > most)
    return bad(key, fmt::format("is not a number from {} to {}", least, most));
  return std::optional(it->get<std::int64_t>());
}

Result<std::optional<double>> SettingsObject::number(const char* key) const {
  const auto it = object_.find(key);
  if (it == object_.end()) return std::optional<double>();
  if (!it->is_number()) return bad(key, "is not a number");
  return std::optional(it->get<double>());
}

Result<std::vector<std::string>> SettingsObject::texts(const char* key) const {
  std::vector<std::string> found;
  const auto it = object_.find(key);
  if (it == object_.end()) return found;
  if (!it->is_array()) return bad(key, "is not a list of strings");
  for (const json& one : *it) {
    if (!one.is_string()) return bad(key, "is not a list of strings");
    found.push_back(one.get<std::string>());
  }
  return found;
}

bool is_made_of(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           others.find(c) != std::string_view::npos;
  });
}

}  // namespace lockstep::compute
