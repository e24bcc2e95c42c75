#pragma once
// Compresses single pieces into zstd frames. Level 1, because a snapshot is sent only once, and
// disks and networks are faster than higher levels.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::snapshot {

// The frame, or nullopt when it would not save at least an eighth of the size.
std::optional<std::string> compress_if_smaller(std::string_view raw);
// Decompresses; returns corrupt unless the result has exactly `raw_size` bytes.
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
// Gets the raw bytes without a copy: the view is into the piece, or into `scratch`, a buffer that
// the caller should reuse.
Result<std::string_view> raw_view(const BlobPiece& piece, std::string& scratch);

}  // namespace lockstep::snapshot
