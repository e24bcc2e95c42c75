#include "launcher/api/json/keys/keys.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep::api {

// ---- values -------------------------------------------------------------------------------------

void put_bool(Json& to, bool value) { to = value; }
void put_number(Json& to, std::int64_t value) { to = value; }
void put_number(Json& to, std::uint64_t value) { to = value; }
void put_number(Json& to, double value) { to = value; }
void put_text(Json& to, std::string_view value) { to = std::string(value); }
void put_time(Json& to, Instant value) { to = to_string(value); }
// An integer, or a number with a fraction if the duration has one.
void put_seconds(Json& to, Duration value) {
  if (value.count() % 1'000'000'000 == 0)
    to = value.count() / 1'000'000'000;
  else
    to = static_cast<double>(value.count()) / 1e9;
}
void put_empty_list(Json& to) { to = Json::array(); }
void put_empty_object(Json& to) { to = Json::object(); }

Json& new_item(Json& list) { return list.emplace_back(nullptr); }
Json& new_key(Json& object, std::string_view key) {
  return object.get_ref<Json::object_t&>().emplace_back(key, nullptr).second;
}

JsonWriter::JsonWriter(Json& to) : to_(to) { put_empty_object(to); }

void JsonWriter::line(const Line& line, const Value& value) {
  if (line.is_there) value.put(new_key(to_, line.key), value.at);
}

// ---- lines of keys() ----------------------------------------------------------------------------

void See::pass(Line line, const Value& value) {
  if (group_ != Group::always) line.is_required = false;
  if (group_ == Group::left_out) line.is_there = false;
  this->line(line, value);
}

void See::only_if(bool is_there, const Keys& keys) {
  const Group outer = group_;
  group_ = is_there && outer != Group::left_out ? Group::there : Group::left_out;
  keys(*this);
  group_ = outer;
}

namespace {

void put_keys(Json& to, const void* at) {
  JsonWriter writer(to);
  (*static_cast<const See::Keys*>(at))(writer);
}

void put_null(Json&, const void*) {}

void put_schema_of_keys(Json& schema, const void* at, const Allowed&) {
  SchemaWriter writer(schema, SchemaWriter::Of::nested_object);
  (*static_cast<const See::Keys*>(at))(writer);
  writer.finish();
}

}  // namespace

void See::object(const char* key, const Keys& keys, const char* says) {
  pass({key, says, true, true, {}}, {&keys, put_keys, put_schema_of_keys});
}

void See::object_or_null(bool is_there, const char* key, const Keys& keys, const char* says) {
  pass({key, says, true, true, {}}, {&keys, is_there ? put_keys : put_null,
                                     [](Json& schema, const void* at, const Allowed& allowed) {
                                       put_schema_of_keys(schema, at, allowed);
                                       allow_null(schema);
                                     }});
}

// ---- schemas ------------------------------------------------------------------------------------

Json page_head(const char* name, const char* title, const char* says) {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"$id", std::string(name) + ".json"},
          {"title", title},
          {"description", says}};
}

Json shared_types() {
  return {
      {"time",
       {{"description", "A time in UTC, with milliseconds: 2026-01-31T12:00:00.000Z."},
        {"type", "string"},
        {"pattern", R"(^\d{4,}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$)"}}},
      {"digest",
       {{"description", "A SHA-256 as 64 hexadecimal digits."},
        {"type", "string"},
        {"pattern", "^[0-9a-f]{64}$"}}},
      {"reason",
       {{"description",
         "A reason for programs: its code, and what it is about by name; sizes in bytes, durations "
         "in seconds. The words for people stand beside it. Null: there is none."},
        {"type", {"object", "null"}},
        {"required", Json::array({"code"})}}}};
}

void describe_const(Json& schema, bool value) { schema["const"] = value; }
void describe_null(Json& schema) { schema["const"] = nullptr; }
void describe_bool(Json& schema) { schema["type"] = "boolean"; }

void describe_number(Json& schema, const char* type, const Allowed& allowed) {
  schema["type"] = type;
  if (allowed.low != kLowest)
    schema[allowed.more_than_low ? "exclusiveMinimum" : "minimum"] = allowed.low;
  if (allowed.high != kHighest) schema["maximum"] = allowed.high;
}

void describe_text(Json& schema, Words words) {
  if (words.empty())
    schema["type"] = "string";
  else if (words.size() == 1)
    schema["const"] = std::string(words.front());
  else
    for (const std::string_view word : words) schema["enum"].push_back(std::string(word));
}

void describe_type(Json& schema, const char* name) {
  schema["$ref"] = std::string("types.json#/$defs/") + name;
}

Json& describe_list(Json& schema) {
  schema["type"] = "array";
  return schema["items"] = Json::object();
}

Json& describe_map(Json& schema) {
  schema["type"] = "object";
  return schema["additionalProperties"] = Json::object();
}

Json& describe_choice(Json& schema) { return schema["anyOf"].emplace_back(Json::object()); }

// A choice among enums is one enum.
void end_choice(Json& schema) {
  Json words = Json::array();
  for (const Json& one : schema["anyOf"]) {
    if (!one.contains("enum")) return;
    for (const Json& word : one["enum"])
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  schema.erase("anyOf");
  schema["enum"] = std::move(words);
}

void allow_null(Json& schema) {
  const auto type = schema.find("type");
  if (schema.contains("enum")) {
    schema["enum"].push_back(nullptr);
  } else if (schema.contains("anyOf")) {
    schema["anyOf"].push_back({{"type", "null"}});
  } else if (type != schema.end() && *type != "object") {
    *type = {*type, "null"};
  } else {
    Json inner = std::move(schema);
    schema = Json::object();
    schema["anyOf"] = {std::move(inner), {{"type", "null"}}};
  }
}

SchemaWriter::SchemaWriter(Json& to, Of of) : to_(to), of_(of) {
  to["type"] = "object";
  to["additionalProperties"] = false;
  to["required"] = Json::array();
  to["properties"] = Json::object();
}

void SchemaWriter::page(const char* name, const char* title, const char* says) {
  if (of_ == Of::nested_object) {
    refers_to_ = name;
    return;
  }
  Json page = page_head(name, title, says);
  page.update(to_);
  to_ = std::move(page);
}

void SchemaWriter::finish() {
  if (refers_to_ != nullptr) to_ = {{"$ref", std::string(refers_to_) + ".json"}};
}

void SchemaWriter::together(const char* key, std::initializer_list<const char*> with) {
  Json keys = Json::array();
  for (const char* one : with) keys.push_back(one);
  to_["dependentRequired"][key] = std::move(keys);
}

void SchemaWriter::line(const Line& line, const Value& value) {
  Json said = Json::object(), schema = Json::object();
  if (*line.says != 0) said["description"] = line.says;
  value.put_schema(schema, value.at, line.allowed);
  said.update(schema);
  if (line.is_required) to_["required"].push_back(line.key);
  to_["properties"][line.key] = std::move(said);
}

}  // namespace lockstep::api
