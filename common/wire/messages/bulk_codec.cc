#include "common/wire/messages/bulk_codec.h"

namespace lockstep::pb {

namespace {

Status read_offset(std::uint64_t value, const char* field, std::uint64_t* out) {
  if (value > static_cast<std::uint64_t>(kOffsetRule.high))
    return bad_field(field, "is larger than any file can be");
  *out = value;
  return {};
}

Status read_piece(BlobPiece& from, lockstep::BlobPiece* to) {
  // The most bytes of a piece on the wire: a zstd frame of incompressible data is a little longer
  // than its content.
  constexpr std::size_t kMaxData = kMaxPieceBytes + (kMaxPieceBytes >> 4);
  TRY(read_digest(from.digest(), "piece.digest", &to->digest));
  TRY(read_offset(from.total_size(), "piece.total_size", &to->total_size));
  TRY(read_offset(from.offset(), "piece.offset", &to->offset));
  if (to->offset > to->total_size) return bad_field("piece.offset", "is beyond the blob's end");
  to->compressed = from.compressed();
  if (!to->compressed && from.data().size() > to->total_size - to->offset)
    return bad_field("piece.data", "goes beyond the blob's end");
  if (from.data().size() > kMaxData)
    return read_text(from.data(), "piece.data", &to->data, kMaxData);  // returns the error
  to->data = std::move(*from.mutable_data());
  return {};
}

Status read_pieces(google::protobuf::RepeatedPtrField<BlobPiece>& from,
                   std::vector<lockstep::BlobPiece>* to) {
  TRY(check_count(from.size(), kMaxDigestsPerRequest, "pieces"));
  to->reserve(static_cast<std::size_t>(from.size()));
  for (BlobPiece& piece : from) TRY(read_piece(piece, &to->emplace_back()));
  return {};
}

}  // namespace

Status from_wire(PutBlobs& from, lockstep::PutBlobs* to) {
  return read_pieces(*from.mutable_pieces(), &to->pieces);
}

Status from_wire(BlobData& from, lockstep::BlobData* to) {
  TRY(read_pieces(*from.mutable_pieces(), &to->pieces));
  TRY(split_digests(from.absent(), kMaxDigestsPerRequest, "absent", &to->absent));
  to->last = from.last();
  return {};
}

}  // namespace lockstep::pb
