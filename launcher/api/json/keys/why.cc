#include <nlohmann/json.hpp>

#include "common/domain/why/all/convert.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

namespace {

Json record_json(const WhyData& data);

struct ToJson {
  template <class T>
  Json operator()(const T& value) const {
    return to_json(value);
  }
  Json operator()(const WhyList& list) const {
    Json json = Json::array();
    for (const WhyValue& item : list) json.push_back(std::visit(*this, item.value));
    return json;
  }
  Json operator()(const WhyData& data) const { return record_json(data); }
};

Json record_json(const WhyData& data) {
  if (data.code.empty() && data.fields.empty()) return nullptr;  // no reason
  Json json = Json::object();
  if (!data.code.empty()) json["code"] = data.code;
  for (const WhyField& field : data.fields)
    json[field.name] = std::visit(ToJson{}, field.value.value);
  return json;
}

}  // namespace

// {"code": …, …fields}: sizes in bytes, durations in seconds, times as texts in UTC.
void put_reason(Json& to, const Why& value) { to = record_json(to_data(value)); }

}  // namespace lockstep::api
