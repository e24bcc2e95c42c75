#pragma once
// The messages between an agent and its runners, over the attempt directory's unix socket, and
// those between the runners of one gang, over ZeroMQ. Plain values, encoded by common/wire.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/base/table.h"
#include "common/domain/ranks/bounds.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/runners/attach_frames.h"
#include "common/domain/runners/probe_protocol.h"
#include "common/domain/runners/watch_protocol.h"
#include "common/domain/targets/metrics.h"

namespace lockstep {

inline constexpr std::size_t kMaxRunnerFrameBytes = 64u << 20;
inline constexpr std::size_t kMaxGangMessageBytes = 256u << 20;
inline constexpr std::size_t kMaxRowsInMessage = 1'024;
inline constexpr std::size_t kMostLogsTaken = 10'000;
inline constexpr Rule kFenceBlobsRule{
    .low = 0, .high = kMaxNodesPerJob - 1, .count = kMaxNodesPerJob};

// ---- agent <-> runner (framed: u32 little-endian length, then one RunnerEnvelope) ---------------
// The runner sends its whole status on each connection and at each change. The agent sends the
// assignment whenever its phase changed, how much of each log the launcher has, and an order to end
// the part. Each message states a complete state, so a lost connection loses nothing.
struct RunnerStatus {
  static constexpr int kBody = 10;
  PartReport report;
  static auto& bare(auto& s) { return s.report; }
  friend bool operator==(const RunnerStatus&, const RunnerStatus&) = default;
};
struct UpdateAssignment {
  static constexpr int kBody = 11;
  Assignment assignment;
  static auto& bare(auto& s) { return s.assignment; }
  friend bool operator==(const UpdateAssignment&, const UpdateAssignment&) = default;
};
struct LogsTaken {  // the bytes from the start of each log that the launcher has stored; ranks may
                    // be missing
  static constexpr int kBody = 12;
  std::vector<LogSize> logs;
  static void table(auto& s, auto&& see) {
    see(field<1>, "logs", s.logs, {.count = kMostLogsTaken});
  }
  friend bool operator==(const LogsTaken&, const LogsTaken&) = default;
};
// The runner must end the part with this cause, unless it is ending already, because the node
// cannot let it run on.
struct EndPart {
  static constexpr int kBody = 13;
  Cause cause = Cause::disk_limit;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "cause", s.cause);
    see(reason_fields<2, 810>, "message", s.why);
  }
  friend bool operator==(const EndPart&, const EndPart&) = default;
};
// The runner sends what its ranks use at each sample; the next one replaces it.
struct RanksUse {
  static constexpr int kBody = 20;
  PartUse use;
  static auto& bare(auto& s) { return s.use; }
  friend bool operator==(const RanksUse&, const RanksUse&) = default;
};
// An AttachFrame goes both ways, and repairs itself (runners/attach_frames.h). A runner that does
// not know it says nothing.
using RunnerControl =
    std::variant<RunnerStatus, UpdateAssignment, LogsTaken, EndPart, RanksUse, AttachFrame>;

// ---- runner <-> runner (CURVE, k-ary tree by node rank, one ordered path) -----------------------
struct GangHello {  // child -> parent, first message
  static constexpr int kBody = 10;
  AttemptId attempt;
  int node_rank = 0;
  bool awaits_rows = false;  // it lacks the whole table, and is ready only after all GangRows
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<750>, "awaits_rows", s.awaits_rows);
  }
  friend bool operator==(const GangHello&, const GangHello&) = default;
};
struct GangReady {  // child -> parent: the child's whole subtree is connected and has the table
  static constexpr int kBody = 11;
  int node_rank = 0;
  std::uint32_t knows = 0;  // the least kGangKnows of its subtree
  static void table(auto& s, auto&& see) {
    see(field<1>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<700>, "knows", s.knows);
  }
  friend bool operator==(const GangReady&, const GangReady&) = default;
};
struct GangStart {  // parent -> children: all runners are connected and have the table
  static constexpr int kBody = 12;
  std::uint32_t knows = 0;  // the least kGangKnows of the gang: nothing newer is sent in it
  static void table(auto& s, auto&& see) { see(field<700>, "knows", s.knows); }
  friend bool operator==(const GangStart&, const GangStart&) = default;
};
// Rows of the gang's table: parent -> a child that awaits them, all of them, in order. The receiver
// checks that they are the launcher's (GangShare::digest) before it passes them on.
struct GangRows {
  static constexpr int kBody = 50;
  AttemptId attempt;
  int first = 0;                 // the node rank of the first of these
  std::vector<GangMember> rows;  // 1 to kMaxRowsInMessage
  std::uint16_t master_port = 0;
  std::optional<GangFabric> fabric = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "first", s.first, kNodeRankRule);
    see(field<3>, "rows", s.rows, {.count = kMaxRowsInMessage});
    see(field<4>, "master_port", s.master_port);
    see(field<5>, "fabric", s.fabric);
  }
  static Status check(const GangRows& s) {
    if (!s.rows.empty()) return {};
    return make_error(ErrorCode::corrupt, "message field gang_rows.rows: is empty");
  }
  friend bool operator==(const GangRows&, const GangRows&) = default;
};
// A collective: contributions are passed up the tree, and their union is passed down. `signature`
// names the set of processes (PMIx proc array, encoded), and `sequence` counts the collectives of
// that signature.
struct FencePart {
  static constexpr int kBody = 13;
  std::string signature;
  std::uint64_t sequence = 0;
  std::map<int, std::string> blobs;  // the contributions by node rank
  static void table(auto& s, auto&& see) {
    see(field<1>, "signature", s.signature, {.bytes = kMaxRunnerFrameBytes});
    see(field<2>, "sequence", s.sequence);
    see(field<3>, "blobs", s.blobs, kFenceBlobsRule);
  }
  friend bool operator==(const FencePart&, const FencePart&) = default;
};
struct FenceDone {
  static constexpr int kBody = 14;
  std::string signature;
  std::uint64_t sequence = 0;
  std::map<int, std::string> blobs;
  static void table(auto& s, auto&& see) {
    see(field<1>, "signature", s.signature, {.bytes = kMaxRunnerFrameBytes});
    see(field<2>, "sequence", s.sequence);
    see(field<3>, "blobs", s.blobs, kFenceBlobsRule);
  }
  friend bool operator==(const FenceDone&, const FenceDone&) = default;
};
// Direct modex: asks the runner of one rank for that rank's data. Routed through the tree.
struct ModexRequest {
  static constexpr int kBody = 15;
  std::uint64_t id = 0;
  int from_node = 0;
  int to_node = 0;
  int rank = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "id", s.id);
    see(field<2>, "from_node", s.from_node, kNodeRankRule);
    see(field<3>, "to_node", s.to_node, kNodeRankRule);
    see(field<4>, "rank", s.rank, kRankRule);
  }
  friend bool operator==(const ModexRequest&, const ModexRequest&) = default;
};
struct ModexReply {
  static constexpr int kBody = 16;
  std::uint64_t id = 0;
  int to_node = 0;
  bool found = false;
  std::string data;
  static void table(auto& s, auto&& see) {
    see(field<1>, "id", s.id);
    see(field<2>, "to_node", s.to_node, kNodeRankRule);
    see(field<3>, "found", s.found);
    see(field<4>, "data", s.data, {.bytes = kMaxGangMessageBytes});
  }
  friend bool operator==(const ModexReply&, const ModexReply&) = default;
};
// A rank failed, or a runner got the order to stop. Every runner terminates its ranks now.
struct GangAbort {
  static constexpr int kBody = 17;
  int node_rank = 0;
  RankExit first;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<2>, "first", s.first);
    see(reason_fields<3, 810>, "message", s.why);
  }
  friend bool operator==(const GangAbort&, const GangAbort&) = default;
};
// All ranks of this node exited with 0. `connected`: whether they connected to their PMIx server;
// either all or none did, because otherwise the node has failed. Absent: the job does not use MPI,
// or the runner is older.
struct GangNodeDone {
  static constexpr int kBody = 18;
  int node_rank = 0;
  std::optional<bool> connected = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<2>, "connected", s.connected);
  }
  friend bool operator==(const GangNodeDone&, const GangNodeDone&) = default;
};
using GangMessage =
    std::variant<GangHello, GangReady, GangStart, FencePart, FenceDone, ModexRequest, ModexReply,
                 GangAbort, GangNodeDone, GangStandings, GangLook, GangSeen, GangRows, ProbeOffer,
                 ProbePlan, ProbeFindings, ProbeOutcome>;

// The messages that all runners of a gang understand: the lowest number of all runners, found while
// they connect (GangReady, GangStart). The kinds of messages that older runners do not know are
// numbered in the order in which they were added; a runner that knows a kind knows all earlier
// kinds. 0: runners older than these numbers. GangRows travel before that, so GangHello asks for
// them, and the launcher knows which runners understand them (PartReport::gang_rows).
inline constexpr std::uint32_t kGangWatches = 1;  // GangStandings, GangLook, GangSeen
inline constexpr std::uint32_t kGangProbes = 2;   // ProbeOffer to ProbeOutcome
inline constexpr std::uint32_t kGangKnows = kGangProbes;

}  // namespace lockstep
