#include "common/wire/messages/bulk_codec.h"

#include "common/wire/job/assignment_codec.h"

namespace lockstep::pb {

namespace {

constexpr std::size_t kMaxKeys = 2 * 10'000 * 8;  // both streams of every rank a node may have

static_assert(static_cast<int>(lockstep::LogStream::out) + 1 == LOG_STREAM_OUT);
static_assert(static_cast<int>(lockstep::LogStream::err) + 1 == LOG_STREAM_ERR);
static_assert(static_cast<int>(lockstep::LogStream::environment) + 1 == LOG_STREAM_ENVIRONMENT);

Status read_stream(int value, lockstep::LogStream* out) {
  return read_enum(value, lockstep::LogStream::environment, "log.stream", out);
}

Status read_log_data(const std::string& value, std::string* out) {
  return read_text(value, "log.data", out, kMaxLogChunkBytes);
}

// Offsets stay where sums of them with sizes do not overflow.
Status read_offset(std::uint64_t value, const char* field, std::uint64_t* out) {
  if (value > std::uint64_t{1} << 62) return bad_field(field, "is larger than any file can be");
  *out = value;
  return {};
}

}  // namespace

void to_wire(const lockstep::MissingBlobs& from, MissingBlobs* to) {
  to->set_digests(join_digests(from.digests));
}
Status from_wire(const MissingBlobs& from, lockstep::MissingBlobs* to) {
  return split_digests(from.digests(), kMaxDigestsPerRequest, "digests", &to->digests);
}

void to_wire(const lockstep::MissingBlobsReply& from, MissingBlobsReply* to) {
  to->set_missing(join_digests(from.missing));
}
Status from_wire(const MissingBlobsReply& from, lockstep::MissingBlobsReply* to) {
  return split_digests(from.missing(), kMaxDigestsPerRequest, "missing", &to->missing);
}

namespace {

Status read_piece(BlobPiece& from, lockstep::BlobPiece* to) {
  // A zstd frame of what cannot be compressed is a little longer than its content.
  constexpr std::size_t kMaxData = kMaxPieceBytes + (kMaxPieceBytes >> 4);
  TRY(read_digest(from.digest(), "piece.digest", &to->digest));
  TRY(read_offset(from.total_size(), "piece.total_size", &to->total_size));
  TRY(read_offset(from.offset(), "piece.offset", &to->offset));
  if (to->offset > to->total_size) return bad_field("piece.offset", "is beyond the blob's end");
  to->compressed = from.compressed();
  if (!to->compressed && from.data().size() > to->total_size - to->offset)
    return bad_field("piece.data", "goes beyond the blob's end");
  if (from.data().size() > kMaxData)
    return read_text(from.data(), "piece.data", &to->data, kMaxData);  // says what is wrong
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

Status take_from_wire(PutBlobs* from, lockstep::PutBlobs* to) {
  return read_pieces(*from->mutable_pieces(), &to->pieces);
}

void to_wire(const lockstep::PutBlobsReply& from, PutBlobsReply* to) {
  to->set_accepted_bytes(from.accepted_bytes);
}
Status from_wire(const PutBlobsReply& from, lockstep::PutBlobsReply* to) {
  to->accepted_bytes = from.accepted_bytes();
  return {};
}

void to_wire(const lockstep::GetBlobs& from, GetBlobs* to) {
  to->set_digests(join_digests(from.digests));
  to->set_offset(from.offset);
  to->set_limit(from.limit);
  to->set_has_other_sources(from.has_other_sources);
  if (from.root) to->set_root(std::string(from.root->view()));
  to->set_job(from.job.value);
}

Status from_wire(const GetBlobs& from, lockstep::GetBlobs* to) {
  TRY(split_digests(from.digests(), kMaxDigestsPerRequest, "digests", &to->digests));
  TRY(read_offset(from.offset(), "offset", &to->offset));
  if (to->offset % kMaxPieceBytes != 0) return bad_field("offset", "is not the start of a piece");
  to->has_other_sources = from.has_other_sources();
  TRY(read_optional_digest(from.root(), "root", &to->root));
  TRY(read_text(from.job(), "job", &to->job.value, 1'024));
  return read_offset(from.limit(), "limit", &to->limit);
}

Status take_from_wire(BlobData* from, lockstep::BlobData* to) {
  TRY(read_pieces(*from->mutable_pieces(), &to->pieces));
  TRY(split_digests(from->absent(), kMaxDigestsPerRequest, "absent", &to->absent));
  to->last = from->last();
  return {};
}

void to_wire(const lockstep::LogKey& from, LogKey* to) {
  to_wire(from.attempt, to->mutable_attempt());
  to->set_rank(from.rank);
  to->set_stream(wire_enum<LogStream>(from.stream));
}

Status from_wire(const LogKey& from, lockstep::LogKey* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  TRY(read_rank(from.rank(), "log.rank", &to->rank));
  return read_stream(from.stream(), &to->stream);
}

void to_wire(const lockstep::LogTime& from, LogTime* to) {
  to->set_offset(from.offset);
  to->set_at_ns(from.at.ns);
}

Status from_wire(const LogTime& from, lockstep::LogTime* to) {
  TRY(read_offset(from.offset(), "time.offset", &to->offset));
  return read_instant(from.at_ns(), "time.at", &to->at);
}

void to_wire(const lockstep::LogAppend& from, LogAppend* to) {
  to->set_node(from.node.value);
  to_wire(from.key, to->mutable_key());
  to->set_offset(from.offset);
  to->set_data(from.data);
  write_list(from.times, to->mutable_times());
}

Status from_wire(const LogAppend& from, lockstep::LogAppend* to) {
  to->node = NodeId(from.node());
  TRY(from_wire(from.key(), &to->key));
  TRY(read_offset(from.offset(), "log.offset", &to->offset));
  TRY(read_log_data(from.data(), &to->data));
  return read_list(from.times(), kMaxLogTimes, "log.times", &to->times);
}

void to_wire(const lockstep::LogAck& from, LogAck* to) {
  to_wire(from.key, to->mutable_key());
  to->set_durable(from.durable);
}

Status from_wire(const LogAck& from, lockstep::LogAck* to) {
  TRY(from_wire(from.key(), &to->key));
  return read_offset(from.durable(), "log.durable", &to->durable);
}

void to_wire(const lockstep::LogResume& from, LogResume* to) {
  to->set_node(from.node.value);
  write_list(from.keys, to->mutable_keys());
}

Status from_wire(const LogResume& from, lockstep::LogResume* to) {
  to->node = NodeId(from.node());
  return read_list(from.keys(), kMaxKeys, "log.keys", &to->keys);
}

void to_wire(const lockstep::LogFollow::Position& from, LogPosition* to) {
  to_wire(from.key, to->mutable_key());
  to->set_offset(from.offset);
}

Status from_wire(const LogPosition& from, lockstep::LogFollow::Position* to) {
  TRY(from_wire(from.key(), &to->key));
  return read_offset(from.offset(), "log.offset", &to->offset);
}

void to_wire(const lockstep::LogFollow& from, LogFollow* to) {
  to->set_job(from.job.value);
  to->set_attempt(from.attempt);
  if (from.rank) to->set_rank(*from.rank);
  if (from.node_rank) to->set_node_rank(*from.node_rank);
  if (from.stream) to->set_stream(wire_enum<LogStream>(*from.stream));
  to->set_tail_lines(from.tail_lines);
  to->set_follow(from.follow);
  to->set_credit(from.credit);
  write_list(from.resume, to->mutable_resume());
  if (from.since) to->set_since_ns(from.since->ns);
  to->set_times(from.times);
  to->set_ranks_only(from.ranks_only);
}

Status from_wire(const LogFollow& from, lockstep::LogFollow* to) {
  TRY(read_text(from.job(), "job", &to->job.value, 1'024));
  to->attempt = from.attempt();
  if (from.has_rank()) TRY(read_rank(from.rank(), "rank", &to->rank.emplace()));
  if (from.has_node_rank()) TRY(read_rank(from.node_rank(), "node_rank", &to->node_rank.emplace()));
  if (from.has_stream()) TRY(read_stream(from.stream(), &to->stream.emplace()));
  if (from.tail_lines() < -1) return bad_field("tail_lines", "is below -1");
  to->tail_lines = from.tail_lines();
  to->follow = from.follow();
  to->credit = from.credit();
  to->times = from.times();
  to->ranks_only = from.ranks_only();
  if (from.has_since_ns()) TRY(read_instant(from.since_ns(), "since", &to->since.emplace()));
  return read_list(from.resume(), kMaxKeys, "resume", &to->resume);
}

void to_wire(const lockstep::LogChunk& from, LogChunk* to) {
  to_wire(from.key, to->mutable_key());
  to->set_node_rank(from.node_rank);
  to->set_node_name(from.node_name);
  to->set_offset(from.offset);
  to->set_data(from.data);
  write_list(from.times, to->mutable_times());
  to->set_more(from.more);
}

Status from_wire(const LogChunk& from, lockstep::LogChunk* to) {
  TRY(from_wire(from.key(), &to->key));
  TRY(read_rank(from.node_rank(), "node_rank", &to->node_rank));
  TRY(read_text(from.node_name(), "node_name", &to->node_name));
  TRY(read_offset(from.offset(), "log.offset", &to->offset));
  to->more = from.more();
  TRY(read_log_data(from.data(), &to->data));
  return read_list(from.times(), kMaxLogTimes, "log.times", &to->times);
}

void to_wire(const lockstep::LogCredit& from, LogCredit* to) { to->set_chunks(from.chunks); }
Status from_wire(const LogCredit& from, lockstep::LogCredit* to) {
  to->chunks = from.chunks();
  return {};
}

void to_wire(const lockstep::LogEnd& from, LogEnd* to) { to->set_status(from.status); }
Status from_wire(const LogEnd& from, lockstep::LogEnd* to) {
  return read_text(from.status(), "status", &to->status);
}

void to_wire(const lockstep::BulkRefused& from, BulkRefused* to) {
  to->set_message(fitting_text(from.message));
  to->set_for_now(from.for_now);
  to->set_no_space(from.no_space);
}
Status from_wire(const BulkRefused& from, lockstep::BulkRefused* to) {
  to->for_now = from.for_now();
  to->no_space = from.no_space();
  return read_text(from.message(), "message", &to->message);
}

}  // namespace lockstep::pb
