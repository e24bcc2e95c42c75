#pragma once
// The header of one record of a pack.

#include <cstdint>

namespace lockstep::snapshot {

// The header of a record, written as it lies in memory: every node that Lockstep runs on is
// little-endian, and a store never leaves its machine.
struct RecordHeader {
  std::uint32_t magic = 0;
  std::uint32_t kind = 0;
  std::uint64_t covered = 0;  // commit mark: all before this offset is durable
  std::uint32_t raw_size = 0;
  std::uint32_t stored_size = 0;
  std::uint8_t digest[32] = {};
  std::uint64_t check = 0;  // a checksum of all fields before it
};
static_assert(sizeof(RecordHeader) == 64);

}  // namespace lockstep::snapshot
