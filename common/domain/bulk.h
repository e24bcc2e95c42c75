#pragma once
// What travels over the bulk socket: blobs and logs, in chunks and under credit, so that heartbeats
// never wait behind a gigabyte. Same rules as messages.h: plain values, idempotent requests.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/time.h"

namespace lockstep {

// ---- blobs -------------------------------------------------------------------------------------
struct MissingBlobs {  // which of these do you lack?
  std::vector<Digest> digests;
  friend bool operator==(const MissingBlobs&, const MissingBlobs&) = default;
};
struct MissingBlobsReply {
  std::vector<Digest> missing;
  friend bool operator==(const MissingBlobsReply&, const MissingBlobsReply&) = default;
};
// One piece of a blob. Small blobs are one piece, and many travel in one PutBlobs.
struct BlobPiece {
  Digest digest;
  std::uint64_t total_size = 0;  // of the whole raw blob
  std::uint64_t offset = 0;      // of this piece, in raw bytes
  bool compressed = false;       // data is a zstd frame of this piece
  std::string data;
  friend bool operator==(const BlobPiece&, const BlobPiece&) = default;
};
struct PutBlobs {
  std::vector<BlobPiece> pieces;
  friend bool operator==(const PutBlobs&, const PutBlobs&) = default;
};
struct PutBlobsReply {  // durable when this arrives
  std::uint64_t accepted_bytes = 0;
  friend bool operator==(const PutBlobsReply&, const PutBlobsReply&) = default;
};
// Answered by a series of BlobData. With exactly one digest, `offset` and `limit` (raw bytes; 0 =
// to the end) select a part of it, so that the receiver controls how much is in flight; the piece
// that reaches the limit is sent whole. Only those who may read the tree `root` get the blobs below
// it; knowing a digest is not enough.
struct GetBlobs {
  std::vector<Digest> digests;
  std::uint64_t offset = 0;  // a multiple of kMaxPieceBytes
  std::uint64_t limit = 0;
  bool has_other_sources = false;   // the asker may be told to try again, or ask a peer
  std::optional<Digest> root = {};  // absent: from a program of before it was asked for
  JobId job = {};                   // of users: the job that has this tree
  friend bool operator==(const GetBlobs&, const GetBlobs&) = default;
};
struct BlobData {
  std::vector<BlobPiece> pieces;
  std::vector<Digest> absent;
  bool last = false;
  friend bool operator==(const BlobData&, const BlobData&) = default;
};

// ---- blobs between nodes -----------------------------------------------------------------------
// A node begins or continues to fetch this tree, and asks who has it or fetches it too.
struct FindPeers {
  Digest root;
  std::uint16_t port = 0;  // where this node serves what it has of it; 0 = it does not
  // `root` is of the packages that the lock in this tree names: no store of the launcher has it.
  std::optional<Digest> lock = {};
  friend bool operator==(const FindPeers&, const FindPeers&) = default;
};
struct BlobPeer {
  NodeId node;
  std::string name;
  std::string endpoint;
  PublicKey key;
  bool fetching = false;  // as far as the launcher knows, not complete yet
  bool core = false;
  friend bool operator==(const BlobPeer&, const BlobPeer&) = default;
};
struct FindPeersReply {
  NodeId self;
  bool core = false;  // this node is one of those that share the launcher's work
  std::vector<BlobPeer> peers;
  friend bool operator==(const FindPeersReply&, const FindPeersReply&) = default;
};
// The end of a fetch, told to the launcher once.
struct FetchReport {
  struct Share {
    NodeId node;
    std::uint64_t bytes = 0;
    std::string fault;  // why it was dropped; "" = it was not
    bool lied = false;
    friend bool operator==(const Share&, const Share&) = default;
  };
  Digest root;
  bool whole = false;
  std::uint64_t from_launcher_bytes = 0;
  std::vector<Share> peers;
  std::optional<Digest> lock = {};  // as in FindPeers
  friend bool operator==(const FetchReport&, const FetchReport&) = default;
};
// One node asks another: which units (see common/transfer/tree_units.h) of this tree do you have?
struct AskUnits {
  Digest root;
  friend bool operator==(const AskUnits&, const AskUnits&) = default;
};
struct UnitsReply {
  bool whole = false;            // all of them
  bool fetching = false;         // others come
  std::uint64_t done_bytes = 0;  // grows as the fetch proceeds
  std::string have;              // bit i % 8 of byte i / 8: unit i; empty when whole
  friend bool operator==(const UnitsReply&, const UnitsReply&) = default;
};

// ---- logs --------------------------------------------------------------------------------------
enum class LogStream {
  out,          // a rank's stdout
  err,          // its stderr
  environment,  // how its node's environment was solved and built
};
struct LogKey {
  AttemptId attempt;
  int rank = 0;  // of `environment`: the node's rank
  LogStream stream = LogStream::out;
  friend auto operator<=>(const LogKey&, const LogKey&) = default;
};
// "rank 3 of job.1", "the environment on node 0 of job.1".
std::string owner_of(const LogKey& key);
// When log bytes were read from a rank's pipe, by its node's clock: the bytes from `offset` up to
// the next entry's offset, within kLogTimeStep after `at`.
struct LogTime {
  std::uint64_t offset = 0;
  Instant at;
  friend auto operator<=>(const LogTime&, const LogTime&) = default;
};
inline constexpr Duration kLogTimeStep = milliseconds(250);
struct LogAppend {
  NodeId node;
  LogKey key;
  std::uint64_t offset = 0;
  std::string data;
  std::vector<LogTime> times = {};  // within data, by offset; none: its times are not known
  friend bool operator==(const LogAppend&, const LogAppend&) = default;
};
struct LogAck {  // after fsync: bytes [0, durable)
  LogKey key;
  std::uint64_t durable = 0;
  friend bool operator==(const LogAck&, const LogAck&) = default;
};
struct LogResume {  // answered by a LogAck for each
  NodeId node;
  std::vector<LogKey> keys;
  friend bool operator==(const LogResume&, const LogResume&) = default;
};

struct LogFollow {  // a client reads logs
  JobId job;
  std::uint32_t attempt = 0;  // 0 = the newest, and then each later one
  std::optional<int> rank;    // this rank, and no node's environment
  std::optional<int> node_rank;
  std::optional<LogStream> stream;  // exactly this one
  std::int64_t tail_lines = -1;     // per rank and stream; -1 = from the start
  bool follow = true;               // false: what is there now, then LogEnd
  std::uint32_t credit = 64;        // chunks the server may send before LogCredit
  struct Position {
    LogKey key;
    std::uint64_t offset = 0;
    friend bool operator==(const Position&, const Position&) = default;
  };
  std::vector<Position> resume;       // where an interrupted follow goes on
  std::optional<Instant> since = {};  // only lines that began at this time or later
  bool times = false;                 // LogChunk::times are wanted
  bool ranks_only = false;            // no environments
  friend bool operator==(const LogFollow&, const LogFollow&) = default;
};
struct LogChunk {
  LogKey key;
  int node_rank = 0;
  std::string node_name;
  std::uint64_t offset = 0;
  std::string data;
  std::vector<LogTime> times = {};  // if wanted; the first may lie before `offset`
  friend bool operator==(const LogChunk&, const LogChunk&) = default;
};
struct LogCredit {
  std::uint32_t chunks = 0;
  friend bool operator==(const LogCredit&, const LogCredit&) = default;
};
struct LogEnd {  // all sent: the job is final (its status word) or !follow
  std::string status;
  friend bool operator==(const LogEnd&, const LogEnd&) = default;
};
struct BulkRefused {
  std::string message;
  bool for_now = false;   // a full disk, a busy launcher: the same request may succeed later
  bool no_space = false;  // for_now, until somebody frees space
  friend bool operator==(const BulkRefused&, const BulkRefused&) = default;
};

using BulkMessage =
    std::variant<MissingBlobs, MissingBlobsReply, PutBlobs, PutBlobsReply, GetBlobs, BlobData,
                 LogAppend, LogAck, LogResume, LogFollow, LogChunk, LogCredit, LogEnd, BulkRefused,
                 FindPeers, FindPeersReply, FetchReport, AskUnits, UnitsReply>;

struct BulkEnvelope {
  std::uint32_t version = 1;
  std::uint64_t sequence = 0;
  std::uint64_t reply_to = 0;
  BulkMessage body;
  friend bool operator==(const BulkEnvelope&, const BulkEnvelope&) = default;
};

// Raw bytes of one piece. Each piece of a blob but the last is exactly this long.
inline constexpr std::size_t kMaxPieceBytes = 1u << 20;
inline constexpr std::size_t kMaxBulkMessageBytes = 4u << 20;
inline constexpr std::size_t kMaxDigestsPerRequest = 20'000;
inline constexpr std::size_t kMaxBlobPeers = 64;        // in one reply or report
inline constexpr std::size_t kMaxUnitBytes = 2u << 20;  // of the bits in a UnitsReply
inline constexpr std::size_t kMaxLogChunkBytes = 256u << 10;
inline constexpr std::size_t kMaxLogTimes = 4'096;  // in one message; more are thinned out

}  // namespace lockstep
