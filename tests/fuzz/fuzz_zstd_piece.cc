// A piece of a blob is its exact length or refused, whatever its frame claims. The first bytes are
// the piece's size and offset.

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "common/snapshot/content/compress.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  BlobPiece piece;
  std::uint64_t head[2] = {};
  if (size < sizeof head + 1) return 0;
  std::memcpy(head, data, sizeof head);
  piece.total_size = head[0];
  piece.offset = head[1];
  piece.compressed = (data[sizeof head] & 1) != 0;
  const auto* rest = reinterpret_cast<const char*>(data) + sizeof head + 1;
  piece.data.assign(rest, size - sizeof head - 1);
  const auto raw = snapshot::raw_of(piece);
  if (raw && raw->size() != snapshot::piece_length(piece.total_size, piece.offset)) std::abort();
  std::string scratch;
  const auto view = snapshot::raw_view(piece, scratch);
  if (view.has_value() != raw.has_value() || (raw && *view != *raw)) std::abort();
  const auto sent = snapshot::make_piece({}, piece.data.size(), 0, piece.data);
  if (piece.data.size() > kMaxPieceBytes) return 0;
  const auto back = snapshot::raw_of(sent);
  if (!back || *back != piece.data) std::abort();
  return 0;
}
