#include "common/wire/messages/bulk.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>

#include "common/wire/body_codec.h"
#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/attach_codec.h"
#include "common/wire/messages/bulk_codec.h"
#include "common/wire/table_codec.h"
#include "proto/bulk.access.h"

namespace lockstep::wire {

namespace {

struct BodyWriter : pb::EnvelopeWriter<pb::BulkEnvelope> {
  using EnvelopeWriter::operator();
  void operator()(const PutBlobs&) const {}  // encode() writes them
  void operator()(const BlobData&) const {}
};

// Pieces hold megabytes. The data goes into the message at once; by way of protobuf's objects it
// would be copied twice more. The bytes are those that protobuf writes.
void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void append_head(std::string& out, int field, std::size_t size) {
  constexpr unsigned kLengthDelimited = 2;
  append_varint(out, static_cast<unsigned>(field) << 3 | kLengthDelimited);
  append_varint(out, size);
}

// The message of a piece up to its data.
std::string head_of(const BlobPiece& piece) {
  pb::BlobPiece wire;
  wire.set_digest(std::string(piece.digest.view()));
  wire.set_total_size(piece.total_size);
  wire.set_offset(piece.offset);
  wire.set_compressed(piece.compressed);
  std::string head = pb::serialize(wire);
  if (!piece.data.empty()) append_head(head, pb::BlobPiece::kDataFieldNumber, piece.data.size());
  return head;
}

void append_pieces(std::string& out, int field, const std::vector<BlobPiece>& pieces,
                   const std::string& rest) {
  static_assert(int{pb::PutBlobs::kPiecesFieldNumber} == int{pb::BlobData::kPiecesFieldNumber});
  constexpr std::size_t kMostHead = 16;  // two varints
  std::vector<std::string> heads;
  std::string body_head, piece_head;
  std::size_t size = rest.size();
  for (const BlobPiece& piece : pieces) {
    heads.push_back(head_of(piece));
    piece_head.clear();
    const std::size_t whole = heads.back().size() + piece.data.size();
    append_head(piece_head, pb::PutBlobs::kPiecesFieldNumber, whole);
    heads.back().insert(0, piece_head);
    size += heads.back().size() + piece.data.size();
  }
  out.reserve(out.size() + size + kMostHead);
  append_head(out, field, size);
  for (std::size_t i = 0; i < pieces.size(); ++i) out.append(heads[i]).append(pieces[i].data);
  out += rest;
}

}  // namespace

std::string encode(const BulkEnvelope& envelope) {
  pb::BulkEnvelope wire;
  wire.set_version(envelope.version);
  wire.set_sequence(envelope.sequence);
  wire.set_reply_to(envelope.reply_to);
  if (envelope.of_attempt) pb::to_wire(*envelope.of_attempt, wire.mutable_of_attempt());
  wire.set_final_outputs(envelope.final_outputs);
  std::visit(BodyWriter{{&wire}}, envelope.body);
  std::string bytes = pb::serialize(wire);
  if (const auto* put = std::get_if<PutBlobs>(&envelope.body))
    append_pieces(bytes, pb::BulkEnvelope::kPutBlobsFieldNumber, put->pieces, {});
  if (const auto* data = std::get_if<BlobData>(&envelope.body)) {
    pb::BlobData rest;
    rest.set_absent(pb::join_digests(data->absent));
    rest.set_last(data->last);
    append_pieces(bytes, pb::BulkEnvelope::kBlobDataFieldNumber, data->pieces, pb::serialize(rest));
  }
  return bytes;
}

bool is_attach_frame(std::string_view bytes) {
  constexpr std::size_t kHeadBytes = 64;  // more than three varints and a tag
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            static_cast<int>(std::min(bytes.size(), kHeadBytes)));
  for (std::uint32_t tag = in.ReadTag(); tag != 0; tag = in.ReadTag()) {
    std::uint64_t value = 0;
    const bool is_varint = (tag & 7) == 0;
    if (!is_varint) return tag >> 3 == pb::BulkEnvelope::kAttachFieldNumber;
    if (!in.ReadVarint64(&value)) return false;
  }
  return false;
}

Result<BulkEnvelope> decode_bulk(std::string_view bytes) {
  pb::BulkEnvelope wire;
  TRY(pb::parse(bytes, kMaxBulkMessageBytes, "bulk message", &wire));
  TRY(pb::check_version(wire.version(), kBulkVersion, "bulk message"));
  BulkEnvelope envelope;
  envelope.version = wire.version();
  envelope.sequence = wire.sequence();
  envelope.reply_to = wire.reply_to();
  envelope.final_outputs = wire.final_outputs();
  if (wire.has_of_attempt()) TRY(pb::from_wire(wire.of_attempt(), &envelope.of_attempt.emplace()));
  TRY(pb::read_body(wire, &envelope.body));
  return envelope;
}

}  // namespace lockstep::wire
