#pragma once
// Positional reads and writes that either transfer all bytes or return an error, and a fast hash
// that detects accidents (torn writes, flipped bits) but no attacks.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep::snapshot {

Status read_exactly_at(int fd, std::uint64_t offset, void* buffer, std::size_t size,
                       const std::string& path);
Status write_all_at(int fd, std::uint64_t offset, std::string_view data, const std::string& path);
Status sync_directory(const std::string& path);
std::uint64_t word_hash(std::string_view bytes);

}  // namespace lockstep::snapshot
