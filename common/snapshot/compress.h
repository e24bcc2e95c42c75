#pragma once
// zstd frames of single pieces. Level 1: a snapshot is sent once, and disks and networks are faster
// than higher levels.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/bulk.h"

namespace lockstep::snapshot {

// The frame, or nullopt when it would not save at least an eighth.
std::optional<std::string> compress_if_smaller(std::string_view raw);
// Exactly `raw_size` bytes; corrupt otherwise.
Result<std::string> decompress(std::string_view frame, std::size_t raw_size);

// The length that the piece at `offset` of a blob must have.
inline std::uint64_t piece_length(std::uint64_t total_size, std::uint64_t offset) {
  const std::uint64_t rest = total_size - offset;
  return rest < kMaxPieceBytes ? rest : kMaxPieceBytes;
}
BlobPiece make_piece(const Digest& digest, std::uint64_t total_size, std::uint64_t offset,
                     std::string_view raw);
// The raw bytes of a piece, after checking that its offset and length fit its blob.
Result<std::string> raw_of(const BlobPiece& piece);
// The same without a copy: they are the piece's own, or in `scratch`, which is worth keeping.
Result<std::string_view> raw_view(const BlobPiece& piece, std::string& scratch);

}  // namespace lockstep::snapshot
