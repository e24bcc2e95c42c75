#pragma once
// Reads a kind's settings from JSON. Errors name the key with its place ("settings.hosts[2].port").

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::compute {

class SettingsObject {
 public:
  // Opens `object`; returns invalid_argument if it is not a JSON object, or has a key that is not
  // in `keys`. It must outlive this reader.
  static Result<SettingsObject> open(const nlohmann::json& object, std::string where,
                                     std::initializer_list<std::string_view> keys);

  // The error "WHERE.KEY WHY".
  Error bad(const std::string& key, const std::string& why) const;

  Result<std::string> text(const char* key) const;  // "": the key is absent
  Result<std::optional<std::int64_t>> integer(const char* key, std::int64_t least,
                                              std::int64_t most) const;
  Result<std::optional<double>> number(const char* key) const;
  // a list; empty: the key is missing
  Result<std::vector<std::string>> texts(const char* key) const;

 private:
  SettingsObject(const nlohmann::json& object, std::string where)
      : object_(object), where_(std::move(where)) {}

  const nlohmann::json& object_;
  std::string where_;
};

// Whether all characters are letters, digits, '_' or one of `others`.
bool is_made_of(std::string_view text, std::string_view others);

}  // namespace lockstep::compute
