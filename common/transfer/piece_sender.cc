#include "common/transfer/piece_sender.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/snapshot/content/compress.h"

namespace lockstep::transfer {
namespace {

constexpr std::size_t kBytesPerMessage = 5u << 19;  // see blob_service.cc
constexpr std::size_t kPiecesPerMessage = 4'000;
// Zeros compress to almost nothing. Without this limit, a sparse file of gigabytes would be one
// message, and the progress would stand still until its end.
constexpr std::uint64_t kRawBytesPerMessage = 16u << 20;

}  // namespace

Status PieceSender::add(BlobPiece piece, std::uint64_t raw_size) {
  message_bytes_ += piece.data.size();
  message_raw_ += raw_size;
  message_.pieces.push_back(std::move(piece));
  const bool is_full = message_bytes_ >= kBytesPerMessage || message_raw_ >= kRawBytesPerMessage ||
                       message_.pieces.size() >= kPiecesPerMessage;
  return is_full ? flush() : Status();
}

Status PieceSender::add_blob(const Digest& digest, std::string_view whole) {
  for (std::size_t offset = 0; offset < whole.size(); offset += kMaxPieceBytes) {
    const auto part = whole.substr(offset, kMaxPieceBytes);
    TRY(add(snapshot::make_piece(digest, whole.size(), offset, part), part.size()));
  }
  return {};
}

Status PieceSender::flush() {
  if (message_.pieces.empty()) return {};
  bytes_sent_ += message_raw_;
  wire_bytes_ += message_bytes_;
  const std::uint64_t raw = std::exchange(message_raw_, 0);
  message_bytes_ = 0;
  return window_.request(std::exchange(message_, {}), std::max<std::uint64_t>(raw, 1),
                         [this, raw](BulkMessage& answer) -> Result<bool> {
                           if (!std::holds_alternative<PutBlobsReply>(answer)) return false;
                           on_durable_(raw);
                           return true;
                         });
}

}  // namespace lockstep::transfer
