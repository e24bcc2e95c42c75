#include "launcher/metrics/sources/crc32c.h"

#include <array>

namespace lockstep::metrics {

namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected
constexpr std::uint32_t kMaskDelta = 0xa282ead8;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? kPolynomial : 0);
    table[byte] = value;
  }
  return table;
}
constexpr auto kTable = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t sum = ~0u;
  for (const char c : bytes) sum = sum >> 8 ^ kTable[(sum ^ static_cast<unsigned char>(c)) & 0xff];
  return ~sum;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t sum = crc32c(bytes);
  return (sum >> 15 | sum << 17) + kMaskDelta;
}

}  // namespace lockstep::metrics
