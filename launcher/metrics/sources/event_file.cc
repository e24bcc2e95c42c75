#include "launcher/metrics/sources/event_file.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <optional>

#include "launcher/metrics/sources/little_endian.h"
#include "launcher/metrics/sources/proto_reader.h"

namespace lockstep::metrics {

namespace {

using Kind = ProtoField::Kind;

// Numbers of fields, and of types: event.proto, summary.proto, tensor.proto, tensor_shape.proto and
// types.proto of TensorBoard.
constexpr std::uint32_t kEventTime = 1, kEventStep = 2, kEventSummary = 5;
constexpr std::uint32_t kSummaryValue = 1;
constexpr std::uint32_t kValueTag = 1, kValueSimple = 2, kValueTensor = 8;
constexpr std::uint32_t kTensorType = 1, kTensorShape = 2, kTensorContent = 4, kTensorFloats = 5,
                        kTensorDoubles = 6, kTensorInts = 7, kTensorInt64s = 10;
constexpr std::uint32_t kShapeDimension = 2, kShapeUnknown = 3;
constexpr std::uint64_t kFloat = 1, kDouble = 2, kInt32 = 3, kInt64 = 9;

// What is no time of this world is none.
Instant instant_of(double seconds) {
  constexpr double kMost = 9.2e9;  // int64 nanoseconds
  if (!(seconds > 0 && seconds < kMost)) return {};
  return {std::llround(seconds * 1e9)};
}

std::size_t bytes_of(std::uint64_t type) {
  if (type == kFloat || type == kInt32) return 4;
  return type == kDouble || type == kInt64 ? 8 : 0;
}

// One element as it lies in memory, little-endian.
std::optional<double> element_of(std::uint64_t type, std::string_view bytes) {
  if (bytes.empty() || bytes.size() != bytes_of(type)) return std::nullopt;
  const std::uint64_t word = little_endian(bytes);
  if (type == kFloat) return std::bit_cast<float>(static_cast<std::uint32_t>(word));
  if (type == kDouble) return std::bit_cast<double>(word);
  if (type == kInt32)
    return static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(word)));
  return static_cast<double>(static_cast<std::int64_t>(word));
}

// The numbers of a field that is repeated, packed or one by one: only one makes a scalar.
struct Elements {
  std::optional<double> only;
  bool too_many = false;
  void add(double value) {
    too_many = too_many || only.has_value();
    only = value;
  }
};

void add_elements(const ProtoField& field, std::uint64_t type, Elements& elements) {
  const bool is_real = type == kFloat || type == kDouble;
  switch (field.kind) {
    case Kind::varint:
      if (!is_real) elements.add(static_cast<double>(static_cast<std::int64_t>(field.value)));
      return;
    case Kind::fixed32:
      if (type == kFloat) elements.add(field.as_float());
      return;
    case Kind::fixed64:
      if (type == kDouble) elements.add(field.as_double());
      return;
    case Kind::bytes: break;
  }
  if (is_real) {
    if (const auto one = element_of(type, field.bytes))
      elements.add(*one);
    else
      elements.too_many = true;
    return;
  }
  ProtoReader packed(field.bytes);
  for (auto one = packed.varint(); one && !elements.too_many; one = packed.varint())
    elements.add(static_cast<double>(static_cast<std::int64_t>(*one)));
}

std::uint32_t field_of(std::uint64_t type) {
  if (type == kFloat) return kTensorFloats;
  if (type == kDouble) return kTensorDoubles;
  return type == kInt32 ? kTensorInts : kTensorInt64s;
}

bool has_dimensions(std::string_view shape) {
  ProtoReader fields(shape);
  while (const auto field = fields.next())
    if (field->number == kShapeDimension ||
        (field->is(kShapeUnknown, Kind::varint) && field->value != 0))
      return true;
  return fields.is_broken();
}

// nullopt: it is no scalar, or of a type that has no curve.
std::optional<double> scalar_of(std::string_view message) {
  std::uint64_t type = 0;
  ProtoReader types(message);
  while (const auto field = types.next())
    if (field->is(kTensorType, Kind::varint)) type = field->value;
  if (types.is_broken() || bytes_of(type) == 0) return std::nullopt;
  Elements elements;
  ProtoReader fields(message);
  while (const auto field = fields.next()) {
    if (field->is(kTensorShape, Kind::bytes) && has_dimensions(field->bytes)) return std::nullopt;
    if (field->is(kTensorContent, Kind::bytes) && !field->bytes.empty())
      if (const auto one = element_of(type, field->bytes)) elements.add(*one);
    if (field->number == field_of(type)) add_elements(*field, type, elements);
  }
  return elements.too_many ? std::nullopt : elements.only;
}

struct Value {
  std::string_view tag;
  std::optional<double> number;
};

// nullopt: it is no message.
std::optional<Value> read_value(std::string_view message) {
  Value value;
  ProtoReader fields(message);
  while (const auto field = fields.next()) {
    if (field->is(kValueTag, Kind::bytes)) value.tag = field->bytes;
    if (field->is(kValueSimple, Kind::fixed32)) value.number = field->as_float();
    if (field->is(kValueTensor, Kind::bytes)) value.number = scalar_of(field->bytes);
  }
  if (fields.is_broken()) return std::nullopt;
  return value;
}

}  // namespace

bool is_event_file(std::string_view file_name) {
  return file_name.find("tfevents") != file_name.npos;
}

std::string name_of_scalar(std::string_view path, std::string_view tag) {
  const auto slash = path.rfind('/');
  if (slash == path.npos) return std::string(tag);
  return fmt::format("{}/{}", path.substr(0, slash), tag);
}

Status EventFileReader::take(std::string_view bytes, std::vector<NamedPoint>* points) {
  records_.feed(bytes);
  for (;;) {
    auto record = records_.next();
    if (!record) return record.error().within(path_);
    if (!*record) return {};
    read_event(**record, points);
  }
}

void EventFileReader::read_event(std::string_view message, std::vector<NamedPoint>* points) {
  Point at;
  ProtoReader head(message);
  while (const auto field = head.next()) {
    if (field->is(kEventTime, Kind::fixed64)) at.time = instant_of(field->as_double());
    if (field->is(kEventStep, Kind::varint)) at.step = static_cast<std::int64_t>(field->value);
  }
  if (head.is_broken()) {
    ++unread_;
    return;
  }
  // Fields may come in any order, and a summary needs the step.
  ProtoReader fields(message);
  while (const auto field = fields.next())
    if (field->is(kEventSummary, Kind::bytes)) read_summary(field->bytes, at, points);
}

void EventFileReader::read_summary(std::string_view message, Point at,
                                   std::vector<NamedPoint>* points) {
  ProtoReader fields(message);
  while (const auto field = fields.next()) {
    if (!field->is(kSummaryValue, Kind::bytes)) continue;
    const auto value = read_value(field->bytes);
    if (value && !value->number) continue;
    std::string name = value ? name_of_scalar(path_, value->tag) : "";
    if (!value || value->tag.empty() || name.size() > kMaxMetricNameBytes) {
      ++unread_;
      continue;
    }
    at.value = *value->number;
    points->push_back({std::move(name), at});
  }
  if (fields.is_broken()) ++unread_;
}

}  // namespace lockstep::metrics
