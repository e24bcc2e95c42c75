#pragma once
// One runner as a function: the ranks of one gang on one node, from start to final report. It
// decides what ended first and what must be terminated; it never forks, signals, reads a clock or a
// socket.
//
// What a final report says:
//   completed   every rank here exited 0 by itself (an MPI rank after finalizing)
//   canceled    nothing failed here: the ranks were stopped by order of the launcher or of a peer
//   any other   the first failure here; `first_failed_rank` names its rank when one is to blame
// Terminating: a failure sends SIGTERM, and SIGKILL after kFailureGrace, so that an MPI job never
// hangs; a stop or a time-out leaves the assignment's grace. KillEverything always comes last.
// Under mpi a rank that exits 0 must have finalized if it connected, and must have connected if
// another rank of the gang did. If no rank connected, the command was no MPI program: it simply
// completed. A runner leaves when its own ranks are done; it sends GangDrained and waits for no
// answer. A node whose ranks never connected may therefore have left when another node's ranks
// connect and wait for them in vain: then the other runner fails, and names the first rank of the
// node that left. On Leave the gang's socket must still deliver queued messages (the last
// FenceDone).

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/runner_messages.h"

namespace lockstep::runner {

// ---- inputs ------------------------------------------------------------------------------------
// First input, once. `self` is what this node knows of itself (node, hostname, address, host_id,
// gpus): a solo runner makes the gang table of it. The ports in it are ignored: Endpoint has them.
struct Begin {
  Assignment assignment;
  GangMember self = {};
};
struct Endpoint {  // the gang socket is bound, ports are leased
  std::uint16_t runner_port = 0;
  PublicKey runner_key;
  std::uint16_t master_port = 0;
};
struct AssignmentChanged {
  Assignment assignment;
};                        // phase moved: run or stop
struct GangConnected {};  // GangStart: the whole tree is connected
struct PeerLost {
  int node_rank = 0;
};  // a tree neighbour vanished (the launcher decides on nodes)
struct AbortFromPeer {
  GangAbort abort;
};
struct PeerDrained {
  GangDrained drained;
};  // every rank of another node exited 0
struct RankStarted {
  int rank = 0;
  int pid = 0;
};
struct RankStartFailed {
  int rank = 0;
  int exit_code = 125;
  std::string why;
};  // 126/127 or ours
struct RankConnected {
  int rank = 0;
};  // PMIx client connected
struct RankFinalized {
  int rank = 0;
};  // PMIx client finalized
struct RankAborted {
  int rank = 0;
  int code = 0;
  std::string message;
};  // MPI_Abort
struct RankExited {
  int rank = 0;
  int exit_code = 0;
  int signal = 0;
  bool oom = false;
};
struct StderrTail {
  int rank = 0;
  std::string text;
};  // answer to ReadStderrTail
struct LogsDrained {
  std::vector<LogSize> sizes;
};                          // all pipes are at EOF and on disk
struct MasterPortTaken {};  // someone else listens there before rank 0 did
struct SpawnLost {          // lockstep-spawn died, or its container: its ranks with it
  std::string what = "lockstep-spawn died";
};
struct SetupFailed {
  Cause cause = Cause::start_failed;
  std::string why;
};
struct LeaseRenewed {  // of an assignment that holds one; before Begin, too
  Instant until;
};
struct Tick {};
using Input = std::variant<Begin, Endpoint, AssignmentChanged, GangConnected, PeerLost,
                           AbortFromPeer, PeerDrained, RankStarted, RankStartFailed, RankConnected,
                           RankFinalized, RankAborted, RankExited, StderrTail, LogsDrained,
                           MasterPortTaken, SpawnLost, SetupFailed, LeaseRenewed, Tick>;

// ---- actions -----------------------------------------------------------------------------------
struct LeasePorts {
  bool master_port = false;
};  // -> Endpoint
struct ConnectGang {
  GangTable gang;
};  // -> GangConnected
struct StartRank {
  int rank = 0;
  int local_rank = 0;
};
struct SignalRanks {
  int signal = 0;
};                         // all that live
struct KillEverything {};  // SIGKILL by cgroup / namespace / sweep
struct TellGang {
  GangMessage message;
};  // GangAbort, GangDrained
struct ReadStderrTail {
  int rank = 0;
};
struct DrainLogs {};  // -> LogsDrained
struct Report {
  PartReport report;
};  // to the agent, if one listens
struct WriteFinalReport {
  NodeExitReport report;
};                // durable, before Leave
struct Leave {};  // clean up and exit 0
using Action = std::variant<LeasePorts, ConnectGang, StartRank, SignalRanks, KillEverything,
                            TellGang, ReadStderrTail, DrainLogs, Report, WriteFinalReport, Leave>;

// Named times. Events of the bootstrap come on another thread than waitpid's: an exit that looks
// wrong only for lack of such an event is judged kSettle later.
inline constexpr Duration kFailureGrace = seconds(1);
inline constexpr Duration kSettle = milliseconds(250);
inline constexpr Duration kAbortNews = milliseconds(50);  // an MPI rank's death may be an MPI_Abort
inline constexpr Duration kConnectWithin = seconds(30);   // the gang, else its start has failed
inline constexpr Duration kInsistEvery = seconds(2);      // SIGKILL, DrainLogs again
inline constexpr Duration kTailTimeout = seconds(2);      // for StderrTail
inline constexpr Duration kLeaseTimeout = seconds(2);     // for the agent, who ends us when it can
inline constexpr std::size_t kMaxTails = 16;              // ranks whose stderr is quoted

class Core {
 public:
  Core();
  ~Core();
  Core(Core&&) noexcept;
  Core& operator=(Core&&) noexcept;

  std::vector<Action> handle(Instant now, const Input& input);
  Instant next_deadline() const;
  PartReport report() const;
  // The gang table in force: the assignment's, or the runner's own when solo. Present from the
  // first StartRank on; the shell makes its bootstrap of it.
  const std::optional<GangTable>& gang() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::runner
