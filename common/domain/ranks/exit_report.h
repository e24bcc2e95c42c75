#pragma once
// How ranks ended: the report of one runner (NodeExitReport), and the launcher's conclusion for the
// attempt (ExitReport).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/base/word.h"
#include "common/domain/ranks/bounds.h"
#include "common/domain/ranks/found.h"
#include "common/domain/why/why.h"

namespace lockstep {

inline constexpr std::size_t kMaxPeerAddressBytes = 256;
inline constexpr std::size_t kMaxPossibleFirst = 8;
inline constexpr std::size_t kMaxNodeClocks = 8;
inline constexpr std::size_t kMaxLimitLines = 16;  // the most lines of NodeExitReport::limits
inline constexpr std::size_t kMaxNoteLines = 16;   // the most lines of NodeExitReport::notes
inline constexpr std::size_t kMaxRanksInReport = 10'000;
inline constexpr Rule kSignalRule{.low = 0, .high = 128};
inline constexpr std::int64_t kMostClockOffsetNs = std::int64_t{100} * 366 * 86'400 * 1'000'000'000;

// Why an attempt ended. `completed` means that every rank exited with 0.
enum class Cause {
  completed,
  exit_code,               // a rank exited non-zero
  signal,                  // a rank was killed by a signal that was not ours
  out_of_memory,           // the kernel killed a rank for memory
  mpi_abort,               // a rank called MPI_Abort / PMIx_Abort
  exit_without_finalize,   // exit(0) after MPI_Init without MPI_Finalize
  never_connected,         // an MPI job's rank exited with 0 and never connected to the PMIx server
                           // although others did: it ran alone as "rank 0 of 1"
  command_not_found,       // 127
  command_not_executable,  // 126
  timeout,                 // limits.timeout
  canceled,
  workspace_failed,    // the snapshot could not be staged on the node
  start_failed,        // a rank could not be started, which is Lockstep's or the node's fault
  port_taken,          // another process took MASTER_PORT, or all ports; the retry is not charged
  runner_lost,         // the runner died, and its ranks with it
  node_lost,           // the node was silent for node_lost_timeout, or it was rebooted; or it did
                       // not hear from the launcher within the attempt's lease
  account_missing,     // the node cannot run jobs as the job's user: another node, not charged
  environment_failed,  // the environment cannot be solved or built, and a retry would fail too
  disk_limit,          // the attempt exceeded its disk limit, or used most of a full disk
  preempted,           // a node of it is taken away, and announced that before
  hang,                // the ranks hang, and lockstep.on_hang ends the attempt
  no_rdma,             // lockstep.rdma is required, and its ranks do not use RDMA
};
Word describe(Cause cause);
std::string_view to_string(Cause cause);
constexpr Cause last_enumerator(Cause) { return Cause::no_rdma; }

// True when the machines, not the program, are at fault. Such an attempt is retried up to
// RetryPolicy::max times.
bool is_infrastructure(Cause cause);

// How a rank ended, without what it wrote. It is shown even while other ranks of the node run.
struct RankEnd {
  int rank = 0;       // global
  int exit_code = 0;  // the rank's own code; 128 + signal if a signal killed it
  int signal = 0;     // 0 = exited by itself
  bool started = true;
  bool terminated_by_us = false;  // see RankExit
  bool failed = false;            // the cause is not Cause::completed
  Instant time;                   // 0: unknown
  static void table(auto& s, auto&& see) {
    see(field<1>, "rank", s.rank, kRankRule);
    see(field<2>, "exit_code", s.exit_code);
    see(field<3>, "signal", s.signal, kSignalRule);
    see(field<4>, "started", s.started);
    see(field<5>, "terminated_by_us", s.terminated_by_us);
    see(field<6>, "failed", s.failed);
    see(field<7>, "time", s.time);
  }
  friend bool operator==(const RankEnd&, const RankEnd&) = default;
};

// The end of a rank's stderr says that the connection to a peer broke: its own failure follows from
// the peer's end.
struct LostPeer {
  std::string address;  // the address in stderr, at most kMaxPeerAddressBytes: "10.0.0.4", "n3"
  int node_rank = -1;   // the node with this address; -1: no node of the gang, or several
  std::optional<RankEnd> end = {};  // how the peer ended, or the first rank there that ended, if
                                    // known
  bool left = false;                // all ranks of that node exited with 0
  static void table(auto& s, auto&& see) {
    see(field<1>, "address", s.address, {.bytes = kMaxPeerAddressBytes});
    see(field<2>, "node_rank", shifted<1>(s.node_rank), {.low = 0, .high = kMaxNodesPerJob});
    see(field<3>, "end", s.end);
    see(field<4>, "left", s.left);
  }
  friend bool operator==(const LostPeer&, const LostPeer&) = default;
};

struct RankExit {
  int rank = 0;  // global
  int local_rank = 0;
  int exit_code = 0;  // meaningful when signal == 0
  int signal = 0;     // 0 = exited by itself
  Cause cause = Cause::completed;
  bool terminated_by_us =
      false;                // we had sent SIGTERM or SIGKILL before, so this exit is not the cause
  bool started = true;      // false: never ran
  Instant time;             // node's clock
  std::string stderr_tail;  // last lines, at most kStderrTailBytes
  Why why;                  // see why/ranks/ranks.h
  // The cpu time of the rank and the processes that it started; 0: unknown.
  Duration cpu_time{0};
  Bytes peak_memory = {};
  Bytes read = {}, written = {};  // bytes from and to storage
  std::optional<LostPeer> lost_peer = {};
  // With lockstep.core, for a rank that a signal ended: the stack of the thread that failed, "#0
  // crash at boom.c:3", one frame per line; at most kBacktraceBytes.
  std::string backtrace = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "rank", s.rank, kRankRule);
    see(field<2>, "local_rank", s.local_rank, kRankRule);
    see(field<3>, "exit_code", s.exit_code);
    see(field<4>, "signal", s.signal, kSignalRule);
    see(field<5>, "cause", s.cause);
    see(field<6>, "terminated_by_us", s.terminated_by_us);
    see(field<7>, "started", s.started);
    see(field<8>, "time", s.time);
    see(field<9>, "stderr_tail", s.stderr_tail, kCutText);
    see(reason_fields<10, 810>, "detail", s.why);
    see(field<20>, "cpu_time", s.cpu_time);
    see(field<21>, "peak_memory", s.peak_memory);
    see(field<22>, "read", s.read);
    see(field<23>, "written", s.written);
    see(field<700>, "lost_peer", s.lost_peer);
    see(field<710>, "backtrace", s.backtrace, kCutText);
  }
  friend bool operator==(const RankExit&, const RankExit&) = default;
};
inline constexpr std::size_t kStderrTailBytes = 4096;
inline constexpr std::size_t kBacktraceBytes = 4096;
RankEnd end_of(const RankExit& exit);

struct LogSize {
  int rank = 0;  // see LogKey
  std::uint64_t stdout_bytes = 0;
  std::uint64_t stderr_bytes = 0;
  std::uint64_t environment_bytes = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "rank", s.rank, kRankRule);
    see(field<2>, "stdout", s.stdout_bytes);
    see(field<3>, "stderr", s.stderr_bytes);
    see(field<4>, "environment", s.environment_bytes);
  }
  friend bool operator==(const LogSize&, const LogSize&) = default;
};

// The order of another node's runner to end the gang, with the first failure on that node.
struct PeerAbort {
  int node_rank = 0;
  RankExit first;  // the first failure; its cause may be a whole node's, a timeout, or a stop by
                   // order
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node_rank", s.node_rank, kRankRule);
    see(field<2>, "first", s.first);
    see(reason_fields<3, 810>, "message", s.why);
  }
  friend bool operator==(const PeerAbort&, const PeerAbort&) = default;
};

// A node's clock compared with the launcher's, measured with heartbeats.
struct ClockOffset {
  Duration ahead{0};        // the node's minus the launcher's
  Duration uncertainty{0};  // the true value is within so much of `ahead`
  static void table(auto& s, auto&& see) {
    see(field<1>, "ahead", s.ahead, {.low = -kMostClockOffsetNs - 1, .high = kMostClockOffsetNs});
    see(field<2>, "uncertainty", s.uncertainty);
  }
  friend auto operator<=>(const ClockOffset&, const ClockOffset&) = default;
};
// The smallest clock offset that is shown to people.
inline constexpr Duration kNotableOffset = milliseconds(100);

// A runner's durable final report. With never_connected, the failed rank may be on another node.
struct NodeExitReport {
  Cause cause = Cause::completed;        // the cause of the first failure here; completed if
                                         // nothing failed
  std::optional<int> first_failed_rank;  // first rank *of this node* that failed by itself
  Why why;                               // see why/ranks/parts.h; of a rank RankEnded
  std::vector<RankExit> ranks;
  std::vector<LogSize> logs;
  Instant started;  // first rank started; 0 when none did
  Instant ended;
  std::vector<Why> limits = {};              // see PartReport
  std::vector<Why> notes = {};               // see PartReport
  std::optional<PeerAbort> aborted_by = {};  // set if nothing failed here before
  // Set if the workspace could not be staged, and would fail on every node, because the job asks
  // for something wrong.
  bool hopeless = false;
  Bytes log_times = {};  // the bytes of the times of all `logs` (attempt/log_times.h)
  // Set if a path that the job names is missing here, but maybe not elsewhere.
  bool absent = false;
  // From node rank 0, with Cause::hang: the finding for which the attempt was ended.
  std::optional<Found> hang = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "cause", s.cause);
    see(field<2>, "first_failed_rank", s.first_failed_rank, kRankRule);
    see(reason_fields<3, 810>, "message", s.why);
    see(field<4>, "ranks", s.ranks, {.count = kMaxRanksInReport});
    see(field<5>, "logs", s.logs, {.count = kMaxRanksInReport});
    see(field<6>, "started", s.started);
    see(field<7>, "ended", s.ended);
    see(reason_fields<20, 811>, "limits", s.limits, {.count = kMaxLimitLines});
    see(reason_fields<80, 812>, "notes", s.notes, {.count = kMaxNoteLines});
    see(field<81>, "aborted_by", s.aborted_by);
    see(field<82>, "hopeless", s.hopeless);
    see(field<83>, "log_times", s.log_times);
    see(field<84>, "absent", s.absent);
    see(field<700>, "hang", s.hang);
  }
  friend bool operator==(const NodeExitReport&, const NodeExitReport&) = default;
};

// A failure that may have come before the one that is named as the first.
struct PossibleFirst {
  Cause cause = Cause::completed;
  std::optional<int> rank;  // absent: the node as a whole
  NodeId node;
  std::string node_name;
  Instant time;
  Why why;                   // the same field as in ExitReport
  std::string message = {};  // the same field as in ExitReport
  static void table(auto& s, auto&& see) {
    see(field<1>, "cause", s.cause);
    see(field<2>, "rank", s.rank, kRankRule);
    see(field<3>, "node", s.node);
    see(field<4>, "node_name", s.node_name);
    see(field<5>, "time", s.time);
    see(field<6>, "message", s.message, kCutText);
    see(field<800>, "why_data", s.why);
  }
  // Fills the field from `message`, in which earlier launchers report it.
  static void mend(PossibleFirst& s) {
    if (!s.why) s.why = told(s.message);
  }
  friend bool operator==(const PossibleFirst&, const PossibleFirst&) = default;
};

// A node of the attempt whose clock is off by more than kNotableOffset.
struct NodeClock {
  std::string node_name;
  ClockOffset offset;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node_name", s.node_name);
    see(field<2>, "offset", s.offset);
  }
  friend bool operator==(const NodeClock&, const NodeClock&) = default;
};

// The launcher's verdict on one attempt.
struct ExitReport {
  Cause cause = Cause::completed;
  int exit_code = 0;        // the exit code of the CLI (DESIGN §5)
  std::optional<int> rank;  // first failing rank
  NodeId node;              // the node of the failure; 0 if it concerns no node
  std::string node_name;
  Instant time;
  Why why;              // none: the cause tells everything
  std::string message;  // `why` in words, in views; "" in facts and in state
  std::string stderr_tail;
  std::vector<int> terminated_ranks;  // ranks that were terminated because of it
  // The clocks of their nodes are not known well enough to say which came first; at most
  // kMaxPossibleFirst.
  std::vector<PossibleFirst> also = {};
  std::vector<NodeClock> clocks = {};  // the clocks of the nodes; at most kMaxNodeClocks
  // Set if the machine ended by itself: the usual lifetime of such a machine. Zero: that is not the
  // cause.
  Duration lifetime{0};
  std::optional<Found> hang = {};          // with Cause::hang: the finding that ended it
  std::optional<LostPeer> lost_peer = {};  // the peer that `rank` lost
  std::string backtrace = {};              // the stack of `rank`; see RankExit
  static void table(auto& s, auto&& see) {
    see(field<1>, "cause", s.cause);
    see(field<2>, "exit_code", s.exit_code);
    see(field<3>, "rank", s.rank, kRankRule);
    see(field<4>, "node", s.node);
    see(field<5>, "node_name", s.node_name);
    see(field<6>, "time", s.time);
    see(field<7>, "message", s.message, kCutText);
    see(by_hand<800>, "why", s.why);
    see(field<8>, "stderr_tail", s.stderr_tail, kCutText);
    see(field<9>, "terminated_ranks", s.terminated_ranks,
        {.low = 0, .high = kMaxRankNumber, .count = kMaxRankNumber});
    see(field<69>, "also", s.also, {.count = kMaxPossibleFirst});
    see(field<70>, "clocks", s.clocks, {.count = kMaxNodeClocks});
    see(field<71>, "lifetime", s.lifetime);
    see(field<700>, "hang", s.hang);
    see(field<701>, "lost_peer", s.lost_peer);
    see(field<710>, "backtrace", s.backtrace, kCutText);
  }
  friend bool operator==(const ExitReport&, const ExitReport&) = default;
};

// The exit code of DESIGN §5 for a rank: its code, 128+signal, 124, 125, 126, 127, 130.
int exit_code_of(const RankExit& exit);

}  // namespace lockstep
