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
#include "common/base/time.h"
#include "common/base/word.h"
#include "common/domain/ranks/found.h"
#include "common/domain/why/why.h"

namespace lockstep {

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
  port_taken,          // others took MASTER_PORT, or all ports; its retry is not charged
  runner_lost,         // the runner died, and its ranks with it
  node_lost,           // the node was silent for node_lost_timeout, or it was rebooted; or it did
                       // not hear from the launcher within the attempt's lease
  account_missing,     // the node cannot run jobs as the job's user: another node, not charged
  environment_failed,  // it cannot be solved or built, and a retry would fail too
  disk_limit,          // the attempt exceeded its disk limit, or used most of a full disk
  preempted,           // a node of it is taken away, and said so before
  hang,                // its ranks hang, and lockstep.on_hang ends it for that
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
  int exit_code = 0;  // of the rank itself; 128 + signal when one killed it
  int signal = 0;     // 0 = exited by itself
  bool started = true;
  bool terminated_by_us = false;  // see RankExit
  bool failed = false;            // its cause is not Cause::completed
  Instant time;                   // 0: unknown
  friend bool operator==(const RankEnd&, const RankEnd&) = default;
};

// The end of a rank's stderr says that the connection to a peer broke: its own failure follows from
// the peer's end.
struct LostPeer {
  std::string address;  // as stderr has it, at most kMaxPeerAddressBytes: "10.0.0.4", "n3"
  int node_rank = -1;   // the node with this address; -1: none of the gang, or several
  std::optional<RankEnd> end = {};  // of the peer, or of the first rank there that ended, if known
  bool left = false;                // all ranks of that node exited with 0
  friend bool operator==(const LostPeer&, const LostPeer&) = default;
};
inline constexpr std::size_t kMaxPeerAddressBytes = 256;

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
  // Of the rank and the processes that it started; 0: unknown.
  Duration cpu_time{0};
  Bytes peak_memory = {};
  Bytes read = {}, written = {};  // from and to storage
  std::optional<LostPeer> lost_peer = {};
  // Of a signal, with lockstep.core: the stack of the thread that failed, "#0 crash at boom.c:3", a
  // frame in a line; at most kBacktraceBytes.
  std::string backtrace = {};
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
  friend bool operator==(const LogSize&, const LogSize&) = default;
};

// Another node's runner ended the gang: its first failure, as that runner told the others.
struct PeerAbort {
  int node_rank = 0;
  RankExit first;  // its cause may be that of a node as a whole, a time-out, or a stop by order
  Why why;
  friend bool operator==(const PeerAbort&, const PeerAbort&) = default;
};

// A node's clock compared with the launcher's, measured with heartbeats.
struct ClockOffset {
  Duration ahead{0};        // the node's minus the launcher's
  Duration uncertainty{0};  // the true value is within so much of `ahead`
  friend auto operator<=>(const ClockOffset&, const ClockOffset&) = default;
};
// Larger offsets are shown to people.
inline constexpr Duration kNotableOffset = milliseconds(100);

// A runner's durable final report. With never_connected, the failed rank may be on another node.
struct NodeExitReport {
  Cause cause = Cause::completed;        // of the first failure here; completed when none
  std::optional<int> first_failed_rank;  // first rank *of this node* that failed by itself
  Why why;                               // see why/ranks/parts.h; of a rank RankEnded
  std::vector<RankExit> ranks;
  std::vector<LogSize> logs;
  Instant started;  // first rank started; 0 when none did
  Instant ended;
  std::vector<Why> limits = {};              // see PartReport
  std::vector<Why> notes = {};               // see PartReport
  std::optional<PeerAbort> aborted_by = {};  // set if nothing failed here before
  // Set if the workspace could not be staged. `hopeless`: it would fail on every node, because the
  // job asks for something wrong. `absent`: a path that it names is missing here, maybe not
  // elsewhere.
  bool hopeless = false;
  Bytes log_times = {};  // what the times of all of `logs` take beside them (attempt/log_times.h)
  bool absent = false;   // see `hopeless`
  // Of node rank 0, with Cause::hang: what it was ended for.
  std::optional<Found> hang = {};
  friend bool operator==(const NodeExitReport&, const NodeExitReport&) = default;
};

// A failure that may have come before the one that is named as the first.
struct PossibleFirst {
  Cause cause = Cause::completed;
  std::optional<int> rank;  // absent: the node as a whole
  NodeId node;
  std::string node_name;
  Instant time;
  Why why;                   // as in ExitReport
  std::string message = {};  // as in ExitReport
  friend bool operator==(const PossibleFirst&, const PossibleFirst&) = default;
};
inline constexpr std::size_t kMaxPossibleFirst = 8;

// A node of the attempt whose clock is off by more than kNotableOffset.
struct NodeClock {
  std::string node_name;
  ClockOffset offset;
  friend bool operator==(const NodeClock&, const NodeClock&) = default;
};
inline constexpr std::size_t kMaxNodeClocks = 8;

// The launcher's verdict on one attempt.
struct ExitReport {
  Cause cause = Cause::completed;
  int exit_code = 0;        // what the CLI exits with, DESIGN §5
  std::optional<int> rank;  // first failing rank
  NodeId node;              // where; 0 when it concerns no node
  std::string node_name;
  Instant time;
  Why why;              // none: the cause says all
  std::string message;  // `why` in words, in views; "" in facts and in state
  std::string stderr_tail;
  std::vector<int> terminated_ranks;  // ranks that were terminated because of it
  // The clocks of their nodes are not known well enough to say which came first; at most
  // kMaxPossibleFirst.
  std::vector<PossibleFirst> also = {};
  std::vector<NodeClock> clocks = {};  // at most kMaxNodeClocks
  // Its machine ended by itself: how long such a machine lives. Zero: that is not the cause.
  Duration lifetime{0};
  std::optional<Found> hang = {};          // with Cause::hang
  std::optional<LostPeer> lost_peer = {};  // of `rank`
  std::string backtrace = {};              // of `rank`; see RankExit
  friend bool operator==(const ExitReport&, const ExitReport&) = default;
};

// The exit code of DESIGN §5 for a rank: its code, 128+signal, 124, 125, 126, 127, 130.
int exit_code_of(const RankExit& exit);

}  // namespace lockstep
