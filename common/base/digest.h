#pragma once
// SHA-256 digests as values (FIPS 180-4; computed by OpenSSL). No I/O here: bytes in, digest out.

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  friend auto operator<=>(const Digest&, const Digest&) = default;
  std::string hex() const;        // 64 lower-case characters
  std::string_view view() const;  // the 32 raw bytes
  static std::optional<Digest> from_hex(std::string_view text);
  static std::optional<Digest> from_bytes(std::string_view raw);  // exactly 32 bytes
};

Digest sha256(std::string_view data);

// Computes a digest in steps, for streams.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void update(std::string_view data);
  Digest finish();  // may be called once

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace lockstep

template <>
struct std::hash<lockstep::Digest> {
  std::size_t operator()(const lockstep::Digest& d) const noexcept {
    std::size_t h = 0;
    for (int i = 0; i < 8; ++i) h = h << 8 | d.bytes[i];
    return h;
  }
};
