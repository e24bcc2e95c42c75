#include "common/transfer/blob_service.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace lockstep::transfer {
namespace {

constexpr std::size_t kMaxPiecesInOneMessage = 4'000;
static_assert(kEnoughForOneMessage + kMaxPieceBytes + kMaxPiecesInOneMessage * 64 <
              kMaxBulkMessageBytes);

std::uint64_t raw_length(const BlobPiece& piece) {
  const std::uint64_t rest = piece.total_size - piece.offset;
  return rest < kMaxPieceBytes ? rest : kMaxPieceBytes;
}

}  // namespace

BulkRefused refusal(const Error& error) {
  return {error.message, error.code == ErrorCode::resource_exhausted};
}

namespace {

bool is_the_senders(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported:
    case ErrorCode::corrupt: return true;
    case ErrorCode::not_found:
    case ErrorCode::already_exists:
    case ErrorCode::permission_denied:
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
    case ErrorCode::resource_exhausted:
    case ErrorCode::conflict:
    case ErrorCode::io:
    case ErrorCode::internal:
    case ErrorCode::unsatisfiable: return false;
  }
  return false;
}

}  // namespace

BulkRefused not_stored(const Error& error) {
  const bool for_now = !is_the_senders(error.code);
  return {error.message, for_now, for_now};
}

BulkMessage answer(snapshot::BlobStore& store, const MissingBlobs& request, snapshot::Lease lease) {
  auto missing = store.missing(request.digests, lease);
  if (!missing) return not_stored(missing.error());
  return MissingBlobsReply{*std::move(missing)};
}

BulkMessage answer(snapshot::BlobStore& store, const PutBlobs& request, std::string_view peer) {
  PutAnswer one = put(store, request, peer);
  make_durable(store, {&one});
  return std::move(one.reply);
}

PutAnswer put(snapshot::BlobStore& store, const PutBlobs& request, std::string_view peer,
              snapshot::Lease lease, const OnPiece& on_piece, snapshot::Asker asker) {
  const std::uint64_t losses = store.losses();  // read before anything is checked
  PutBlobsReply reply;
  for (const BlobPiece& piece : request.pieces) {
    // The piece is on disk already, at least until the next collection; then it is not read either.
    const bool was_here = on_piece && store.size(piece.digest).has_value();
    const auto stored = store.put_piece(piece, peer, lease, asker);
    if (!stored) return {not_stored(stored.error()), losses};
    const Status told = on_piece ? on_piece(piece, was_here, *stored) : Status();
    if (!told) return {not_stored(told.error()), losses};
    reply.accepted_bytes += raw_length(piece);
  }
  return {reply, losses};
}

void make_durable(snapshot::BlobStore& store, const std::vector<PutAnswer*>& answers) {
  const Status synced = store.sync();
  const std::uint64_t losses = store.losses();
  for (PutAnswer* const one : answers) {
    if (std::holds_alternative<BulkRefused>(one->reply)) continue;
    if (!synced) one->reply = not_stored(synced.error());
    if (synced && one->losses != losses)
      one->reply = BulkRefused{
          "this upload was dropped together with another one that could not be made durable", true};
  }
}

BlobReader::BlobReader(const snapshot::BlobStore& store, GetBlobs request, std::size_t enough)
    : store_(store), request_(std::move(request)), enough_(enough) {
  if (request_.digests.size() == 1) offset_ = request_.offset;
}

std::optional<BulkMessage> BlobReader::next() {
  if (done_) return std::nullopt;
  BlobData data;
  if (const Status filled = fill(data); !filled) {
    done_ = true;
    return refusal(filled.error());
  }
  done_ = data.last = index_ == request_.digests.size();
  return data;
}

Status BlobReader::fill(BlobData& data) {
  const bool is_part = request_.digests.size() == 1 && request_.limit != 0;
  std::size_t bytes = 0;
  while (index_ < request_.digests.size() && bytes < enough_ &&
         data.pieces.size() + data.absent.size() < kMaxPiecesInOneMessage) {
    const Digest& digest = request_.digests[index_];
    auto piece = store_.piece(digest, offset_);
    if (!piece) {
      const ErrorCode code = piece.error().code;
      if (code != ErrorCode::not_found && code != ErrorCode::corrupt) return piece.error();
      data.absent.push_back(digest);
      ++index_;
      offset_ = 0;
      continue;
    }
    bytes += piece->data.size();
    offset_ += kMaxPieceBytes;
    const bool is_enough = is_part && offset_ >= request_.offset + request_.limit;
    if (offset_ >= piece->total_size || is_enough) {
      ++index_;
      offset_ = 0;
    }
    data.pieces.push_back(*std::move(piece));
  }
  return {};
}

}  // namespace lockstep::transfer
