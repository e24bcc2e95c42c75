#include "launcher/metrics/sources/proto_reader.h"

#include <bit>
#include <cstddef>

#include "launcher/metrics/sources/little_endian.h"

namespace lockstep::metrics {

float ProtoField::as_float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value));
}

double ProtoField::as_double() const { return std::bit_cast<double>(value); }

std::optional<ProtoField> ProtoReader::broken() {
  is_broken_ = true;
  rest_ = {};
  return std::nullopt;
}

// Encodings that are longer than needed are valid; bits beyond the 64th are dropped.
std::optional<std::uint64_t> ProtoReader::varint() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 10 && i < rest_.size(); ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    rest_.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ProtoReader::fixed(std::size_t bytes) {
  if (rest_.size() < bytes) return std::nullopt;
  const std::uint64_t value = little_endian(rest_.substr(0, bytes));
  rest_.remove_prefix(bytes);
  return value;
}

std::optional<ProtoField> ProtoReader::next() {
  if (rest_.empty()) return std::nullopt;
  const auto tag = varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 32 != 0) return broken();
  ProtoField field;
  field.number = static_cast<std::uint32_t>(*tag >> 3);
  std::optional<std::uint64_t> value;
  switch (*tag & 7) {
    case 0: value = varint(); break;
    case 1:
      field.kind = ProtoField::Kind::fixed64;
      value = fixed(8);
      break;
    case 2:
      field.kind = ProtoField::Kind::bytes;
      value = varint();
      if (!value || *value > rest_.size()) return broken();
      field.bytes = rest_.substr(0, static_cast<std::size_t>(*value));
      rest_.remove_prefix(field.bytes.size());
      break;
    case 5:
      field.kind = ProtoField::Kind::fixed32;
      value = fixed(4);
      break;
    default: return broken();  // groups, which nobody writes any more
  }
  if (!value) return broken();
  field.value = *value;
  return field;
}

}  // namespace lockstep::metrics
