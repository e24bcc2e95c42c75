#pragma once
// The messages between an agent and its runners, over the attempt directory's unix socket, and
// those between the runners of one gang, over ZeroMQ. Plain values, encoded by common/wire.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/messages/assignment.h"
#include "common/domain/messages/attach_frames.h"
#include "common/domain/messages/probe_protocol.h"
#include "common/domain/messages/watch_protocol.h"
#include "common/domain/targets/metrics.h"

namespace lockstep {

// ---- agent <-> runner (framed: u32 little-endian length, then one RunnerEnvelope) ---------------
// The runner sends its whole status on each connection and at each change. The agent sends the
// assignment whenever its phase changed, how much of each log the launcher has, and an order to end
// the part. Each message states a complete state, so a lost connection loses nothing.
struct RunnerStatus {
  PartReport report;
  friend bool operator==(const RunnerStatus&, const RunnerStatus&) = default;
};
struct UpdateAssignment {
  Assignment assignment;
  friend bool operator==(const UpdateAssignment&, const UpdateAssignment&) = default;
};
struct LogsTaken {  // so many bytes from the start of each log are durable at the launcher; ranks
                    // may be missing
  std::vector<LogSize> logs;
  friend bool operator==(const LogsTaken&, const LogsTaken&) = default;
};
// The runner must end the part with this cause, unless it is ending already, because the node
// cannot let it run on.
struct EndPart {
  Cause cause = Cause::disk_limit;
  Why why;
  friend bool operator==(const EndPart&, const EndPart&) = default;
};
// The runner sends what its ranks use at each sample; the next one replaces it.
struct RanksUse {
  PartUse use;
  friend bool operator==(const RanksUse&, const RanksUse&) = default;
};
// An AttachFrame goes both ways, and repairs itself (messages/attach_frames.h). A runner that does
// not know it says nothing.
using RunnerControl =
    std::variant<RunnerStatus, UpdateAssignment, LogsTaken, EndPart, RanksUse, AttachFrame>;

// ---- runner <-> runner (CURVE, k-ary tree by node rank, one ordered path) -----------------------
struct GangHello {  // child -> parent, first message
  AttemptId attempt;
  int node_rank = 0;
  bool awaits_rows = false;  // it has no whole table, and is not ready before all GangRows came
  friend bool operator==(const GangHello&, const GangHello&) = default;
};
struct GangReady {  // child -> parent: the child's whole subtree is connected and has the table
  int node_rank = 0;
  std::uint32_t knows = 0;  // the least kGangKnows of its subtree
  friend bool operator==(const GangReady&, const GangReady&) = default;
};
struct GangStart {          // parent -> children: all runners are connected and have the table
  std::uint32_t knows = 0;  // the least kGangKnows of the gang: nothing newer is sent in it
  friend bool operator==(const GangStart&, const GangStart&) = default;
};
// Rows of the gang's table: parent -> a child that awaits them, all of them, in order. Who has
// received them checks that they are what the launcher named (GangShare::digest) before it passes
// them on.
struct GangRows {
  AttemptId attempt;
  int first = 0;                 // the node rank of the first of these
  std::vector<GangMember> rows;  // 1 to kMaxRowsInMessage
  std::uint16_t master_port = 0;
  std::optional<GangFabric> fabric = {};
  friend bool operator==(const GangRows&, const GangRows&) = default;
};
// A collective: contributions are passed up the tree, and their union is passed down. `signature`
// names the set of processes (PMIx proc array, encoded), and `sequence` counts the collectives of
// that signature.
struct FencePart {
  std::string signature;
  std::uint64_t sequence = 0;
  std::map<int, std::string> blobs;  // node rank -> contribution
  friend bool operator==(const FencePart&, const FencePart&) = default;
};
struct FenceDone {
  std::string signature;
  std::uint64_t sequence = 0;
  std::map<int, std::string> blobs;
  friend bool operator==(const FenceDone&, const FenceDone&) = default;
};
// Direct modex: asks the runner of one rank for that rank's data. Routed through the tree.
struct ModexRequest {
  std::uint64_t id = 0;
  int from_node = 0;
  int to_node = 0;
  int rank = 0;
  friend bool operator==(const ModexRequest&, const ModexRequest&) = default;
};
struct ModexReply {
  std::uint64_t id = 0;
  int to_node = 0;
  bool found = false;
  std::string data;
  friend bool operator==(const ModexReply&, const ModexReply&) = default;
};
// A rank failed, or a runner was told to stop. Every runner terminates its ranks now.
struct GangAbort {
  int node_rank = 0;
  RankExit first;
  Why why;
  friend bool operator==(const GangAbort&, const GangAbort&) = default;
};
// All ranks of this node exited with 0. `connected`: whether they ever connected to their PMIx
// server; either all or none did, because otherwise the node has failed. Absent: no MPI job, or an
// older runner.
struct GangDrained {
  int node_rank = 0;
  std::optional<bool> connected = {};
  friend bool operator==(const GangDrained&, const GangDrained&) = default;
};
using GangMessage =
    std::variant<GangHello, GangReady, GangStart, FencePart, FenceDone, ModexRequest, ModexReply,
                 GangAbort, GangDrained, GangStandings, GangLook, GangSeen, GangRows, ProbeOffer,
                 ProbePlan, ProbeFindings, ProbeOutcome>;

inline constexpr std::size_t kMaxRunnerFrameBytes = 64u << 20;
inline constexpr std::size_t kMaxGangMessageBytes = 256u << 20;
inline constexpr std::size_t kMaxRowsInMessage = 1'024;

// What all runners of a gang understand, which they find out while they connect (GangReady,
// GangStart): the lowest of all counts. One number for each kind of message that older runners do
// not know, in the order in which these were added: who knows a kind knows those before it, too.
// 0: runners from before there were such numbers. GangRows pass before that, so GangHello asks for
// them, and the launcher knows who understands them (PartReport::gang_rows).
inline constexpr std::uint32_t kGangWatches = 1;  // GangStandings, GangLook, GangSeen
inline constexpr std::uint32_t kGangProbes = 2;   // ProbeOffer to ProbeOutcome
inline constexpr std::uint32_t kGangKnows = kGangProbes;

}  // namespace lockstep
