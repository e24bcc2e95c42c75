#pragma once
// Event files as TensorBoard's writers make them, from parts.

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "launcher/metrics/sources/crc32c.h"

namespace lockstep::test {

inline std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

inline std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(0x80 | (value & 0x7f));
  return text + static_cast<char>(value);
}

inline std::string key(int number, int wire_type) {
  return varint(static_cast<std::uint64_t>(number) << 3 | static_cast<std::uint64_t>(wire_type));
}
inline std::string number_field(int number, std::uint64_t value) {
  return key(number, 0) + varint(value);
}
inline std::string double_field(int number, double value) {
  return key(number, 1) + little(std::bit_cast<std::uint64_t>(value), 8);
}
inline std::string float_field(int number, float value) {
  return key(number, 5) + little(std::bit_cast<std::uint32_t>(value), 4);
}
inline std::string bytes_field(int number, std::string_view bytes) {
  return key(number, 2) + varint(bytes.size()) + std::string(bytes);
}

// A TFRecord.
inline std::string record(std::string_view data) {
  const std::string length = little(data.size(), 8);
  return length + little(metrics::masked_crc32c(length), 4) + std::string(data) +
         little(metrics::masked_crc32c(data), 4);
}

// A Summary.Value, with what is in it.
inline std::string value(std::string_view tag, std::string_view content) {
  return bytes_field(1, tag) + std::string(content);
}
inline std::string simple(std::string_view tag, float number) {
  return value(tag, float_field(2, number));
}
// An Event with a Summary of one value.
inline std::string event(double time, std::int64_t step, std::string_view value) {
  return double_field(1, time) + number_field(2, static_cast<std::uint64_t>(step)) +
         bytes_field(5, bytes_field(1, value));
}
// The first record of every event file.
inline std::string version_record() {
  return record(double_field(1, 1'700'000'000) + bytes_field(3, "brain.Event:2"));
}

}  // namespace lockstep::test
