#pragma once
// The messages of the bulk socket: blobs and logs, sent in chunks and under credit, and what goes
// to and comes from attachments. They have a socket of their own so that heartbeats never wait
// behind a gigabyte. The rules of envelope.h hold here too: plain values, idempotent requests.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/runners/attach_frames.h"
#include "common/domain/ranks/bounds.h"

namespace lockstep {

// The raw bytes of one piece. Every piece of a blob except the last one is exactly this long.
inline constexpr std::size_t kMaxPieceBytes = 1u << 20;
inline constexpr std::size_t kMaxBulkMessageBytes = 4u << 20;
inline constexpr std::size_t kMaxDigestsPerRequest = 20'000;
inline constexpr std::size_t kMaxBlobPeers = 64;        // the most peers in one reply or report
inline constexpr std::size_t kMaxUnitBytes = 2u << 20;  // the most bytes of bits in a UnitsReply
inline constexpr std::size_t kMaxLogChunkBytes = 256u << 10;
inline constexpr std::size_t kMaxLogTimes = 4'096;  // the most times in one message; if there are
                                                    // more, some are left out
inline constexpr std::size_t kMaxLogKeys = 2 * 10'000 * 8;  // the streams of a node's logs: both of
                                                            // each rank
// Sums of offsets with sizes do not overflow.
inline constexpr Rule kOffsetRule{.low = 0, .high = std::int64_t{1} << 62};

// ---- blobs -------------------------------------------------------------------------------------
struct MissingBlobs {  // asks which of these blobs the receiver does not have
  static constexpr int kBody = 10;
  std::vector<Digest> digests;
  static void table(auto& s, auto&& see) {
    see(field<1>, "digests", s.digests, {.count = kMaxDigestsPerRequest});
  }
  friend bool operator==(const MissingBlobs&, const MissingBlobs&) = default;
};
struct MissingBlobsReply {
  static constexpr int kBody = 11;
  std::vector<Digest> missing;
  static void table(auto& s, auto&& see) {
    see(field<1>, "missing", s.missing, {.count = kMaxDigestsPerRequest});
  }
  friend bool operator==(const MissingBlobsReply&, const MissingBlobsReply&) = default;
};
// One piece of a blob. A small blob is one piece, and one PutBlobs carries many.
struct BlobPiece {
  Digest digest;
  std::uint64_t total_size = 0;  // the size of the whole raw blob
  std::uint64_t offset = 0;      // the offset of this piece, in raw bytes
  bool compressed = false;       // data is a zstd frame of this piece
  std::string data;
  friend bool operator==(const BlobPiece&, const BlobPiece&) = default;
};
struct PutBlobs {
  static constexpr int kBody = 12;
  std::vector<BlobPiece> pieces;
  friend bool operator==(const PutBlobs&, const PutBlobs&) = default;
};
struct PutBlobsReply {  // the pieces are durable when this arrives
  static constexpr int kBody = 13;
  std::uint64_t accepted_bytes = 0;
  static void table(auto& s, auto&& see) { see(field<1>, "accepted_bytes", s.accepted_bytes); }
  friend bool operator==(const PutBlobsReply&, const PutBlobsReply&) = default;
};
// Asks for blobs. Answered by BlobData messages until all blobs are sent. With a single digest,
// `offset` and `limit` ask for a part of it, which is the receiver's credit. They count raw bytes;
// limit 0 = to the end; the piece that reaches the limit is sent whole. A blob is sent only if it
// is below the tree `root` and the asker may read that tree. Knowing a digest gives no access.
struct GetBlobs {
  static constexpr int kBody = 14;
  std::vector<Digest> digests;
  std::uint64_t offset = 0;  // in raw bytes; a multiple of kMaxPieceBytes
  std::uint64_t limit = 0;
  bool has_other_sources = false;   // the asker may be told to try again, or ask a peer
  std::optional<Digest> root = {};  // absent: sent by an older program without this field
  JobId job = {};                   // when a user asks: the job that has this tree
  static void table(auto& s, auto&& see) {
    see(field<1>, "digests", s.digests, {.count = kMaxDigestsPerRequest});
    see(field<2>, "offset", s.offset, kOffsetRule);
    see(field<3>, "limit", s.limit, kOffsetRule);
    see(field<120>, "has_other_sources", s.has_other_sources);
    see(field<121>, "root", s.root);
    see(field<122>, "job", s.job, kNameRule);
  }
  static Status check(const GetBlobs& s) {
    if (s.offset % kMaxPieceBytes == 0) return {};
    return make_error(ErrorCode::corrupt,
                      "message field get_blobs.offset: is not the start of a piece");
  }
  friend bool operator==(const GetBlobs&, const GetBlobs&) = default;
};
struct BlobData {
  static constexpr int kBody = 15;
  std::vector<BlobPiece> pieces;
  std::vector<Digest> absent;
  bool last = false;
  friend bool operator==(const BlobData&, const BlobData&) = default;
};

// ---- blobs between nodes -----------------------------------------------------------------------
// A node that starts or continues to fetch a tree asks which other nodes have or fetch it.
struct FindPeers {
  static constexpr int kBody = 120;
  Digest root;
  std::uint16_t port = 0;  // this node serves its part of the tree on this port; 0 = it does not
  // Set when `root` is the tree of the packages that a lock names: the tree with that lock. The
  // launcher's store does not have `root` then.
  std::optional<Digest> lock = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "root", s.root);
    see(field<2>, "port", s.port);
    see(field<3>, "lock", s.lock);
  }
  friend bool operator==(const FindPeers&, const FindPeers&) = default;
};
struct BlobPeer {
  NodeId node;
  std::string name;
  std::string endpoint;
  PublicKey key;
  bool fetching = false;  // the peer does not have all of the tree yet, as far as the launcher
                          // knows
  bool core = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "name", s.name);
    see(field<3>, "endpoint", s.endpoint);
    see(field<4>, "key", s.key);
    see(field<5>, "fetching", s.fetching);
    see(field<6>, "core", s.core);
  }
  friend bool operator==(const BlobPeer&, const BlobPeer&) = default;
};
struct FindPeersReply {
  static constexpr int kBody = 121;
  NodeId self;
  bool core = false;  // this node is one of those that fetch from the launcher for the others
  std::vector<BlobPeer> peers;
  // The number of other nodes that this one can reach and that have an attempt with this tree, at
  // most those of the core: they have the tree, or fetch it about now.
  std::uint32_t expected = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "self", s.self);
    see(field<2>, "core", s.core);
    see(field<3>, "peers", s.peers, {.count = kMaxBlobPeers});
    see(field<4>, "expected", s.expected);
  }
  friend bool operator==(const FindPeersReply&, const FindPeersReply&) = default;
};
// A node reports the end of a fetch to the launcher, once.
struct FetchReport {
  static constexpr int kBody = 122;
  struct Share {
    NodeId node;
    std::uint64_t bytes = 0;
    std::string fault;  // why this peer was dropped; "" = it was not
    bool gave_wrong_data = false;
    static void table(auto& s, auto&& see) {
      see(field<1>, "node", s.node);
      see(field<2>, "bytes", s.bytes);
      see(field<3>, "fault", s.fault, {.bytes = 4'096});
      see(field<4>, "lied", s.gave_wrong_data);
    }
    friend bool operator==(const Share&, const Share&) = default;
  };
  Digest root;
  bool whole = false;
  std::uint64_t from_launcher_bytes = 0;
  std::vector<Share> peers;
  std::optional<Digest> lock = {};  // the lock of the packages, as in FindPeers
  static void table(auto& s, auto&& see) {
    see(field<1>, "root", s.root);
    see(field<2>, "whole", s.whole);
    see(field<3>, "from_launcher_bytes", s.from_launcher_bytes);
    see(field<4>, "peers", s.peers, {.count = kMaxBlobPeers});
    see(field<5>, "lock", s.lock);
  }
  friend bool operator==(const FetchReport&, const FetchReport&) = default;
};
// Asks another node which units of a tree it has (common/transfer/tree_units.h).
struct AskUnits {
  static constexpr int kBody = 123;
  Digest root;
  static void table(auto& s, auto&& see) { see(field<1>, "root", s.root); }
  friend bool operator==(const AskUnits&, const AskUnits&) = default;
};
struct UnitsReply {
  static constexpr int kBody = 124;
  bool whole = false;            // the node has all units
  bool fetching = false;         // the node is fetching the units that it does not have
  std::uint64_t done_bytes = 0;  // grows while its fetch makes progress
  std::string have;              // bit i % 8 of byte i / 8 stands for unit i; empty when whole
  static void table(auto& s, auto&& see) {
    see(field<1>, "whole", s.whole);
    see(field<2>, "fetching", s.fetching);
    see(field<3>, "done_bytes", s.done_bytes);
    see(field<4>, "have", s.have, {.bytes = kMaxUnitBytes});
  }
  friend bool operator==(const UnitsReply&, const UnitsReply&) = default;
};

// ---- logs --------------------------------------------------------------------------------------
enum class LogStream {
  out,          // a rank's stdout
  err,          // a rank's stderr
  environment,  // the output of solving and building the environment on a node
};
Word describe(LogStream stream);
struct LogKey {
  AttemptId attempt;
  int rank = 0;  // the rank; for `environment` the node's rank
  LogStream stream = LogStream::out;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "rank", s.rank, kRankRule);
    see(field<3>, "stream", s.stream);
  }
  friend auto operator<=>(const LogKey&, const LogKey&) = default;
};
// "rank 3 of job.1", "the environment on node 0 of job.1".
std::string owner_of(const LogKey& key);
// The time at which a range of a log's bytes was written, or read from a rank's pipe: the bytes
// from `offset` up to the next entry's offset, within kLogTimeStep after `at`. In a LogAppend by
// the node's clock, in a LogChunk by the launcher's.
struct LogTime {
  std::uint64_t offset = 0;
  Instant at;
  static void table(auto& s, auto&& see) {
    see(field<1>, "offset", s.offset, kOffsetRule);
    see(field<2>, "at", s.at);
  }
  friend auto operator<=>(const LogTime&, const LogTime&) = default;
};
inline constexpr Duration kLogTimeStep = milliseconds(250);
struct LogAppend {
  static constexpr int kBody = 20;
  NodeId node;
  LogKey key;
  std::uint64_t offset = 0;
  std::string data;
  std::vector<LogTime> times = {};  // the times of `data`, sorted by offset; empty: unknown
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "key", s.key);
    see(field<3>, "offset", s.offset, kOffsetRule);
    see(field<4>, "data", s.data, {.bytes = kMaxLogChunkBytes});
    see(field<5>, "times", s.times, {.count = kMaxLogTimes});
  }
  friend bool operator==(const LogAppend&, const LogAppend&) = default;
};
struct LogAck {  // sent after fsync: bytes [0, durable) are on disk
  static constexpr int kBody = 21;
  LogKey key;
  std::uint64_t durable = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "key", s.key);
    see(field<2>, "durable", s.durable, kOffsetRule);
  }
  friend bool operator==(const LogAck&, const LogAck&) = default;
};
struct LogResume {  // answered by a LogAck for each key
  static constexpr int kBody = 22;
  NodeId node;
  std::vector<LogKey> keys;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "keys", s.keys, {.count = kMaxLogKeys});
  }
  friend bool operator==(const LogResume&, const LogResume&) = default;
};

struct LogFollow {  // Asks to read logs, for a client.
  static constexpr int kBody = 23;
  JobId job;
  std::uint32_t attempt = 0;  // 0 = the newest, and then each later one
  std::optional<int> rank;    // sends the logs of this rank alone, without environment logs
  std::optional<int> node_rank;
  std::optional<LogStream> stream;  // sends this stream alone
  std::int64_t tail_lines = -1;     // the lines per rank and stream; -1 = from the start
  bool follow = true;               // false: sends the logs as they are now, then LogEnd
  std::uint32_t credit = 64;        // chunks the server may send before LogCredit
  struct Position {
    LogKey key;
    std::uint64_t offset = 0;
    static void table(auto& s, auto&& see) {
      see(field<1>, "key", s.key);
      see(field<2>, "offset", s.offset, kOffsetRule);
    }
    friend bool operator==(const Position&, const Position&) = default;
  };
  std::vector<Position> resume;       // the positions at which an interrupted reader continues
  std::optional<Instant> since = {};  // sends only lines that began at this time or later
  bool times = false;                 // fills LogChunk::times
  bool ranks_only = false;            // leaves out environment logs
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kNameRule);
    see(field<2>, "attempt", s.attempt);
    see(field<3>, "rank", s.rank, kRankRule);
    see(field<4>, "node_rank", s.node_rank, kRankRule);
    see(field<5>, "stream", s.stream);
    see(field<6>, "tail_lines", s.tail_lines, {.low = -1});
    see(field<7>, "follow", s.follow);
    see(field<8>, "credit", s.credit);
    see(field<9>, "resume", s.resume, {.count = kMaxLogKeys});
    see(field<10>, "since", s.since);
    see(field<11>, "times", s.times);
    see(field<12>, "ranks_only", s.ranks_only);
  }
  friend bool operator==(const LogFollow&, const LogFollow&) = default;
};
struct LogChunk {
  static constexpr int kBody = 24;
  LogKey key;
  int node_rank = 0;
  std::string node_name;
  std::uint64_t offset = 0;
  std::string data;
  std::vector<LogTime> times = {};  // the times, if requested; the first may lie before `offset`
  // Logs of this follow, this one included, have bytes that are not sent yet. The launcher sends
  // the log with the oldest next byte first, so the next chunk does not begin earlier than this
  // one.
  bool more = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "key", s.key);
    see(field<2>, "node_rank", s.node_rank, kRankRule);
    see(field<3>, "node_name", s.node_name);
    see(field<4>, "offset", s.offset, kOffsetRule);
    see(field<5>, "data", s.data, {.bytes = kMaxLogChunkBytes});
    see(field<6>, "times", s.times, {.count = kMaxLogTimes});
    see(field<7>, "more", s.more);
  }
  friend bool operator==(const LogChunk&, const LogChunk&) = default;
};
struct LogCredit {
  static constexpr int kBody = 25;
  std::uint32_t chunks = 0;
  static void table(auto& s, auto&& see) { see(field<1>, "chunks", s.chunks); }
  friend bool operator==(const LogCredit&, const LogCredit&) = default;
};
struct LogEnd {  // all is sent: the job is final (`status` is its status), or `follow` was false
  static constexpr int kBody = 26;
  std::string status;
  static void table(auto& s, auto&& see) { see(field<1>, "status", s.status); }
  friend bool operator==(const LogEnd&, const LogEnd&) = default;
};
struct BulkRefused {
  static constexpr int kBody = 30;
  std::string message;
  bool for_now = false;   // a full disk, a busy launcher: the same request may succeed later
  bool no_space = false;  // with for_now: the request fails until somebody repairs the disk or
                          // frees space
  static void table(auto& s, auto&& see) {
    see(field<1>, "message", s.message, kCutText);
    see(field<2>, "for_now", s.for_now);
    see(field<3>, "no_space", s.no_space);
  }
  friend bool operator==(const BulkRefused&, const BulkRefused&) = default;
};

using BulkMessage =
    std::variant<MissingBlobs, MissingBlobsReply, PutBlobs, PutBlobsReply, GetBlobs, BlobData,
                 LogAppend, LogAck, LogResume, LogFollow, LogChunk, LogCredit, LogEnd, BulkRefused,
                 FindPeers, FindPeersReply, FetchReport, AskUnits, UnitsReply, AttachFrame>;

struct BulkEnvelope {
  std::uint32_t version = 1;
  std::uint64_t sequence = 0;
  std::uint64_t reply_to = 0;
  BulkMessage body;
  // A node sends this for an attempt: files that it has so far, or its final outputs. Absent: for
  // another reason, or an older program without this field.
  std::optional<AttemptId> of_attempt = {};
  bool final_outputs = false;  // true: the files are final outputs, because the attempt's ranks
                               // have ended
  friend bool operator==(const BulkEnvelope&, const BulkEnvelope&) = default;
};

}  // namespace lockstep
