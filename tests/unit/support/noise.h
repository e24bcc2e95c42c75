#pragma once
// Bytes that cannot be compressed, the same for the same seed.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace lockstep::test {

inline std::string noise(std::size_t size, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::string text(size + sizeof(std::uint64_t), '\0');
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    text.replace(at, sizeof word, reinterpret_cast<const char*>(&word), sizeof word);
  }
  text.resize(size);
  return text;
}

}  // namespace lockstep::test
