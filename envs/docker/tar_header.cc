#include "envs/docker/tar_header.h"

#include <fmt/format.h>

#include "common/base/digest.h"

namespace lockstep::envs {

std::string_view field(std::string_view block, std::size_t from, std::size_t length) {
  const std::string_view all = block.substr(from, length);
  return all.substr(0, all.find('\0'));
}

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(digits[0]) & 0x80) != 0) {
    for (std::size_t i = 1; i < digits.size(); ++i) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(digits[i]);
    }
    return value;
  }
  bool any = false;
  for (const char c : digits) {
    if (c == '\0' || (c == ' ' && any)) break;
    if (c == ' ') continue;
    if (c < '0' || c > '7') return std::nullopt;
    any = true;
    value = value << 3 | static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

std::uint64_t sum_of(std::string_view block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i)
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(block[i]);
  return sum;
}

namespace {

void put(std::string& block, std::size_t at, std::string_view text) {
  block.replace(at, text.size(), text);
}

}  // namespace

std::string header_of(std::string_view name, std::uint64_t size) {
  std::string block(kBlock, '\0');
  put(block, 0, name);
  put(block, 100, "0000644");
  put(block, 108, "0000000");
  put(block, 116, "0000000");
  if (size < 1ULL << 33) {
    put(block, 124, fmt::format("{:011o}", size));
  } else {
    block[124] = '\x80';
    for (std::size_t i = 0; i < 8; ++i)
      block[128 + i] = static_cast<char>(size >> (8 * (7 - i)) & 0xff);
  }
  put(block, 136, "00000000000");
  block[156] = '0';
  put(block, 257, std::string_view("ustar\00000", 8));
  put(block, 148, fmt::format("{:06o}", sum_of(block)));
  block[154] = '\0';
  block[155] = ' ';
  return block;
}

std::uint64_t padding_of(std::uint64_t size) { return (kBlock - size % kBlock) % kBlock; }

}  // namespace lockstep::envs
