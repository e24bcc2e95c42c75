#include "common/snapshot/content/compress.h"

#include <fmt/format.h>
#include <zstd.h>

#include <memory>

namespace lockstep::snapshot {
namespace {

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// The compressor of a thread: a context is expensive compared to a small piece.
ZSTD_CCtx* compressor() {
  thread_local std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  return context.get();
}
ZSTD_DCtx* decompressor() {
  thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  return context.get();
}

// The least size for compression: below it a frame's header is larger than the gain.
constexpr std::size_t kWorthwhileBytes = 128;

Status decompress_into(std::string& raw, std::string_view frame, std::size_t raw_size) {
  raw.resize(raw_size);
  const std::size_t size =
      ZSTD_decompressDCtx(decompressor(), raw.data(), raw.size(), frame.data(), frame.size());
  if (ZSTD_isError(size)) {
    return make_error(ErrorCode::corrupt, fmt::format("zstd frame: {}", ZSTD_getErrorName(size)));
  }
  if (size != raw_size) {
    return make_error(ErrorCode::corrupt,
                      fmt::format("zstd frame: holds {} bytes instead of {}", size, raw_size));
  }
  return {};
}

}  // namespace

std::optional<std::string> compress_if_smaller(std::string_view raw) {
  if (raw.size() < kWorthwhileBytes) return std::nullopt;
  // Half of the pieces cannot be compressed, so the buffer is reused.
  thread_local std::string frame;
  const std::size_t bound = ZSTD_compressBound(raw.size());
  if (frame.size() < bound) frame.resize(bound);
  const std::size_t size =
      ZSTD_compressCCtx(compressor(), frame.data(), frame.size(), raw.data(), raw.size(), 1);
  if (ZSTD_isError(size) || size > raw.size() - raw.size() / 8) return std::nullopt;
  return frame.substr(0, size);
}

Result<std::string> decompress(std::string_view frame, std::size_t raw_size) {
  std::string raw;
  TRY(decompress_into(raw, frame, raw_size));
  return raw;
}

BlobPiece make_piece(const Digest& digest, std::uint64_t total_size, std::uint64_t offset,
                     std::string_view raw) {
  BlobPiece piece{digest, total_size, offset, false, {}};
  if (auto frame = compress_if_smaller(raw)) {
    piece.compressed = true;
    piece.data = *std::move(frame);
  } else {
    piece.data = raw;
  }
  return piece;
}

Result<std::string> raw_of(const BlobPiece& piece) {
  std::string scratch;
  TRY_ASSIGN(const std::string_view raw, raw_view(piece, scratch));
  if (piece.compressed) return scratch;
  return std::string(raw);
}

Result<std::string_view> raw_view(const BlobPiece& piece, std::string& scratch) {
  const bool aligned = piece.offset % kMaxPieceBytes == 0;
  const bool inside = piece.total_size == 0 ? piece.offset == 0 : piece.offset < piece.total_size;
  if (!aligned || !inside) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("blob {}: no piece starts at byte {} of {}", piece.digest.hex(),
                                  piece.offset, piece.total_size));
  }
  const std::uint64_t length = piece_length(piece.total_size, piece.offset);
  if (!piece.compressed && piece.data.size() == length) return std::string_view(piece.data);
  if (!piece.compressed) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("blob {}: the piece at byte {} has {} bytes instead of {}",
                                  piece.digest.hex(), piece.offset, piece.data.size(), length));
  }
  const Status raw = decompress_into(scratch, piece.data, length);
  if (!raw) return raw.error().within("blob " + piece.digest.hex());
  return std::string_view(scratch);
}

}  // namespace lockstep::snapshot
