#pragma once
// What an agent and its runners say to each other over the attempt directory's unix socket, and
// what the runners of one gang say to each other over ZeroMQ. Plain values, encoded by common/wire.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/assignment.h"

namespace lockstep {

// ---- agent <-> runner (framed: u32 little-endian length, then one RunnerEnvelope) ---------------
// The runner sends its whole status on each connection and at each change. The agent sends the
// assignment when its phase changes, how much of the logs the launcher has, and the order to end.
// All of these are states, so a lost connection loses nothing.
struct RunnerStatus {
  PartReport report;
  friend bool operator==(const RunnerStatus&, const RunnerStatus&) = default;
};
struct UpdateAssignment {
  Assignment assignment;
  friend bool operator==(const UpdateAssignment&, const UpdateAssignment&) = default;
};
struct LogsTaken {  // durable with the launcher, from the start of each log; not every rank is
                    // named
  std::vector<LogSize> logs;
  friend bool operator==(const LogsTaken&, const LogsTaken&) = default;
};
// The node cannot let the part run on: it ends for this cause, unless it is ending already.
struct EndPart {
  Cause cause = Cause::disk_limit;
  std::string message;
  friend bool operator==(const EndPart&, const EndPart&) = default;
};
using RunnerControl = std::variant<RunnerStatus, UpdateAssignment, LogsTaken, EndPart>;

// ---- runner <-> runner (CURVE, k-ary tree by node rank, one ordered path) -----------------------
struct GangHello {  // child -> parent, first message
  AttemptId attempt;
  int node_rank = 0;
  friend bool operator==(const GangHello&, const GangHello&) = default;
};
struct GangReady {  // subtree is connected
  int node_rank = 0;
  friend bool operator==(const GangReady&, const GangReady&) = default;
};
struct GangStart {  // parent -> children: all are there
  friend bool operator==(const GangStart&, const GangStart&) = default;
};
// A collective: contributions climb the tree, the union comes down. `signature` names the set of
// processes (PMIx proc array, encoded) and `sequence` counts collectives of that signature.
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
// Direct modex: the data of one rank, asked from the runner that has it, routed through the tree.
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
// A rank failed (or a runner was told to stop): everyone terminates its ranks now.
struct GangAbort {
  int node_rank = 0;
  RankExit first;
  std::string message;
  friend bool operator==(const GangAbort&, const GangAbort&) = default;
};
// All ranks of this node exited 0. For mpi jobs, `connected` says whether they had connected to
// their PMIx server: all of them or none, otherwise the node has failed. Absent: not an MPI job, or
// an older runner.
struct GangDrained {
  int node_rank = 0;
  std::optional<bool> connected = {};
  friend bool operator==(const GangDrained&, const GangDrained&) = default;
};
using GangMessage = std::variant<GangHello, GangReady, GangStart, FencePart, FenceDone,
                                 ModexRequest, ModexReply, GangAbort, GangDrained>;

inline constexpr std::size_t kMaxRunnerFrameBytes = 64u << 20;
inline constexpr std::size_t kMaxGangMessageBytes = 256u << 20;
inline constexpr int kGangTreeRadix = 32;

}  // namespace lockstep
