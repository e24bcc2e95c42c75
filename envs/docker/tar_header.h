#pragma once
// The header of one entry of a tar archive: POSIX.1-1988 ustar.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::envs {

inline constexpr std::size_t kBlock = 512;  // a header, and what sizes are rounded up to

// The text of a field, without the zeros behind it.
std::string_view field(std::string_view block, std::size_t from, std::size_t length);

// Reads a number: octal, or in base 256 if its first bit is set (GNU, for 8 GiB and more).
std::optional<std::uint64_t> number(std::string_view digits);

// The checksum of a header.
std::uint64_t sum_of(std::string_view block);

// The header of a file.
std::string header_of(std::string_view name, std::uint64_t size);

// The bytes of padding after content of this size.
std::uint64_t padding_of(std::uint64_t size);

}  // namespace lockstep::envs
