#include "common/wire/findings.h"

#include <nlohmann/json.hpp>

namespace lockstep::wire {

namespace {

using Json = nlohmann::ordered_json;

Error bad(const std::string& why) { return make_error(ErrorCode::corrupt, "findings: " + why); }

std::string text(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

}  // namespace

std::string encode(const Findings& findings) {
  Json json;
  json["ok"] = all_well(findings);
  json["findings"] = Json::array();
  for (const Finding& each : findings) {
    json["findings"].push_back({{"area", each.area},
                                {"check", each.check},
                                {"verdict", to_string(each.verdict)},
                                {"found", each.found},
                                {"advice", each.advice}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Findings> decode_findings(const std::string& json_text) {
  const Json json = Json::parse(json_text, nullptr, false);
  if (!json.is_object()) return bad("not a JSON object");
  const auto list = json.find("findings");
  if (list == json.end() || !list->is_array()) return bad("\"findings\" is missing");
  Findings findings;
  for (const Json& each : *list) {
    if (!each.is_object()) return bad("an entry of \"findings\" is not an object");
    const auto verdict = verdict_from(text(each, "verdict"));
    if (!verdict) return bad("'" + text(each, "verdict") + "' is not a verdict");
    findings.push_back({text(each, "area"), text(each, "check"), *verdict, text(each, "found"),
                        text(each, "advice")});
  }
  return findings;
}

}  // namespace lockstep::wire
