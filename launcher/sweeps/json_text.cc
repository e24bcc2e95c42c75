#include "launcher/sweeps/json_text.h"

#include <nlohmann/json.hpp>

namespace lockstep::sweeps {
namespace {

// Bytes that are no UTF-8 become U+FFFD.
std::string quoted_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string json_of(const SweepValue& value) {
  switch (value.kind) {
    case SweepValue::Kind::text: return quoted_json(value.text);
    case SweepValue::Kind::boolean: return value.text == "True" ? "true" : "false";
    case SweepValue::Kind::integer:
    case SweepValue::Kind::number:
    case SweepValue::Kind::object: return value.text;
  }
  return "null";
}

std::string json_of(const TrialParameters& parameters) {
  std::string text = "{";
  for (const TrialParameter& parameter : parameters) {
    if (text.size() > 1) text += ", ";
    text += quoted_json(parameter.name) + ": " + json_of(parameter.value);
  }
  return text + "}";
}

}  // namespace lockstep::sweeps
