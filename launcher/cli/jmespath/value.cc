#include "launcher/cli/jmespath/value.h"

#include <algorithm>

namespace lockstep::cli::jmespath {

std::string_view type_of(const Json& value) {
  if (value.is_string()) return "string";
  if (value.is_number()) return "number";
  if (value.is_boolean()) return "boolean";
  if (value.is_array()) return "array";
  return value.is_object() ? "object" : "null";
}

bool is_true(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return value.is_number() || (value.is_structured() && !value.empty());
}

bool equal(const Json& a, const Json& b) {
  if (a.is_array() && b.is_array())
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
  if (!a.is_object() || !b.is_object()) return a == b;
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.items()) {
    const auto other = b.find(key);
    if (other == b.end() || !equal(value, *other)) return false;
  }
  return true;
}

bool are_ordered(const Json& a, const Json& b) {
  return (a.is_number() && b.is_number()) || (a.is_string() && b.is_string());
}

bool less(const Json& a, const Json& b) { return a < b; }

}  // namespace lockstep::cli::jmespath
