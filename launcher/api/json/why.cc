#include "launcher/api/json/why.h"

#include "common/domain/why/all/convert.h"

namespace lockstep::api {

namespace {

Json record_json(const WhyData& data);

struct ToJson {
  template <class T>
  Json operator()(const T& value) const {
    return value;
  }
  Json operator()(Bytes value) const { return value.count; }
  Json operator()(Duration value) const { return seconds_of(value); }
  Json operator()(Instant value) const { return time_or_null(value); }
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

Json reason_json(const Why& why) { return record_json(to_data(why)); }

}  // namespace lockstep::api
