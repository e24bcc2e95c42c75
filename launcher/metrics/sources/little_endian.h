#pragma once
// An unsigned number of up to 8 bytes, the least significant first.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep::metrics {

inline std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace lockstep::metrics
