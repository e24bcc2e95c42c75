#include "launcher/gateway/mlflow/fields.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/base/cut.h"

namespace lockstep::mlflow {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostShown = 60;  // of a wrong value

Error malformed(std::string_view name, std::string_view why) {
  return make_error(ErrorCode::invalid_argument, fmt::format("{}: {}", name, why));
}

std::string shown(const Json& value) {
  return cut(value.dump(-1, ' ', false, Json::error_handler_t::replace), kMostShown);
}

std::optional<std::int64_t> integer_in(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> integer_of(const Json& value) {
  if (value.is_string()) return integer_in(value.get_ref<const std::string&>());
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  // 1e3 and 5.0, which some languages write.
  if (!value.is_number_float()) return std::nullopt;
  const double real = value.get<double>();
  if (std::nearbyint(real) != real || std::abs(real) > 9.0e15) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

std::optional<double> real_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  double real = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return real;
}

}  // namespace

Result<Json> parse_object(std::string_view body) {
  if (body.empty()) return Json::object();
  std::size_t values = 0;
  bool is_deep = false;
  const auto count = [&](int depth, Json::parse_event_t, Json&) {
    is_deep = is_deep || depth > static_cast<int>(kMaxJsonDepth);
    return ++values <= kMaxJsonValues && !is_deep;
  };
  Json object = Json::parse(body, count, false);
  if (is_deep || values > kMaxJsonValues)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the body nests deeper than {} or has more than {} values",
                                  kMaxJsonDepth, kMaxJsonValues));
  if (!object.is_object())
    return make_error(ErrorCode::invalid_argument, "the body is no JSON object");
  return object;
}

const Json* Fields::find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto found = object_.find(std::string(name));
    if (found != object_.end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

Result<std::optional<std::string>> Fields::optional_text(
    std::initializer_list<std::string_view> names) const {
  const Json* const value = find(names);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string())
    return malformed(*names.begin(), fmt::format("'{}' is no text", shown(*value)));
  return std::optional(value->get<std::string>());
}

Result<std::string> Fields::text(std::initializer_list<std::string_view> names) const {
  TRY_ASSIGN(auto text, optional_text(names));
  if (!text) return malformed(*names.begin(), "it is missing");
  return *std::move(text);
}

Result<std::int64_t> Fields::number(std::string_view name, std::int64_t absent) const {
  const Json* const value = find({name});
  if (value == nullptr) return absent;
  const auto number = integer_of(*value);
  if (!number) return malformed(name, fmt::format("'{}' is no whole number", shown(*value)));
  return *number;
}

Result<double> Fields::real(std::string_view name) const {
  const Json* const value = find({name});
  if (value == nullptr) return malformed(name, "it is missing");
  const auto real = real_of(*value);
  if (!real) return malformed(name, fmt::format("'{}' is no number", shown(*value)));
  return *real;
}

Result<Instant> Fields::time(std::string_view name) const {
  TRY_ASSIGN(const std::int64_t ms, number(name, 0));
  constexpr std::int64_t kNanoseconds = 1'000'000;
  if (ms < 0 || ms > INT64_MAX / kNanoseconds / 2)
    return malformed(name, fmt::format("{} is no time in milliseconds since 1970", ms));
  return Instant{ms * kNanoseconds};
}

Result<std::vector<std::string>> Fields::texts(std::string_view name, std::size_t most) const {
  std::vector<std::string> texts;
  const Json* const value = find({name});
  if (value == nullptr) return texts;
  if (!value->is_array()) return malformed(name, "it is no list");
  if (value->size() > most)
    return malformed(name,
                     fmt::format("it has {} items, and {} are possible", value->size(), most));
  for (const Json& item : *value) {
    if (!item.is_string()) return malformed(name, fmt::format("'{}' is no text", shown(item)));
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

Result<std::vector<Fields>> Fields::objects(std::string_view name, std::size_t most) const {
  std::vector<Fields> objects;
  const Json* const value = find({name});
  if (value == nullptr) return objects;
  if (!value->is_array()) return malformed(name, "it is no list");
  if (value->size() > most)
    return malformed(name,
                     fmt::format("it has {} items, and {} are possible", value->size(), most));
  for (const Json& item : *value) {
    if (!item.is_object()) return malformed(name, fmt::format("'{}' is no object", shown(item)));
    objects.emplace_back(item);
  }
  return objects;
}

Result<std::optional<Fields>> Fields::object(std::string_view name) const {
  const Json* const value = find({name});
  if (value == nullptr) return std::optional<Fields>();
  if (!value->is_object()) return malformed(name, "it is no object");
  return std::optional<Fields>(Fields(*value));
}

Result<Json> object_of(const http::Query& query, std::initializer_list<std::string_view> names,
                       std::initializer_list<std::string_view> lists) {
  Json object = Json::object();
  for (const std::string_view name : names) {
    TRY_ASSIGN(auto value, query.one(name));
    if (value) object[std::string(name)] = *std::move(value);
  }
  for (const std::string_view name : lists) object[std::string(name)] = query.all(name);
  return object;
}

}  // namespace lockstep::mlflow
