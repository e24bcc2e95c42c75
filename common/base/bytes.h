#pragma once
// A size in bytes as a type, and its usual text forms (2g, 512m, 1536).

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

struct Bytes {
  std::uint64_t count = 0;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
};

constexpr Bytes kibibytes(std::uint64_t n) { return {n << 10}; }
constexpr Bytes mebibytes(std::uint64_t n) { return {n << 20}; }
constexpr Bytes gibibytes(std::uint64_t n) { return {n << 30}; }

// "2g", "512m", "64k", "1536b", "1536", also "2GiB"/"2Gi"; powers of 1024. nullopt when malformed.
std::optional<Bytes> parse_bytes(std::string_view text);

// The size for people: "1.5 GiB", "340.0 MiB", "12 B".
std::string to_string(Bytes bytes);

}  // namespace lockstep
