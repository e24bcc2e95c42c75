#pragma once
// One runner's decisions as a pure function: the ranks of one gang on one node, from start to final
// report. It decides what failed first and what must be terminated; it never forks, signals, or
// reads a clock or socket.
//
// The cause in a final report:
//   completed   every rank here exited 0 by itself (an MPI rank after finalizing)
//   canceled    nothing failed here: the ranks were stopped by order of the launcher or of a peer
//   any other   the first failure here; `first_failed_rank` is its rank, if a rank caused it
// Terminating: for every end of the gang the ranks get SIGTERM, and SIGKILL after the assignment's
// grace period, which is one for all causes and nodes: a rank may be saving a checkpoint. Two
// exceptions: after the lease's end nothing may run, and ranks that remain where all of a node's
// ranks have ended are children that those left behind. KillEverything always comes last.
// Under mpi a rank that exits 0 must have finalized if it connected, and must have connected if
// another rank of the gang did. If no rank connected, the command was not an MPI program and has
// completed. A runner leaves when its own ranks are done: it sends GangNodeDone and does not wait
// for other nodes' ranks. So a node whose ranks never connected may have left when another node's
// ranks connect and wait for them in vain. Then that other runner fails, and names the first rank
// of the node that left. On Leave the gang's socket must still deliver queued messages (the last
// FenceDone). Under ray, a worker's ranks end when those of the node of rank 0 have ended, and have
// completed.
// Before the ranks of a gang on several hosts start, its network is probed (runner/fabric/probe),
// and the addresses in its table are replaced by those that reach each other best. Where they do
// not, the start fails on the node that the probe names, with the pair.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/runners/runner_protocol.h"
#include "runner/core/input.h"

namespace lockstep::runner {

// ---- actions -----------------------------------------------------------------------------------
struct LeasePorts {
  bool master_port = false;
  int rank_ports = 0;  // for tensorflow: one port per rank here
};                     // -> Endpoint, once all ports are there
// Connects with the whole table, with a share of it, or, at node rank 0, with both -> GangConnected
struct ConnectGang {
  SharedGang gang = {};
  std::optional<GangShare> share = {};
};
struct ProbeGang {};  // probes its network -> ProbeDone
struct StartRank {
  int rank = 0;
  int local_rank = 0;
};
struct SignalRanks {
  int signal = 0;
};  // sends a signal to all live ranks
struct WarnRanks {
  int signal = 0;
};                         // sends a signal to the processes of live ranks that handle it
struct KillEverything {};  // SIGKILL by cgroup / namespace / sweep
struct TellGang {
  GangMessage message;
};  // GangAbort, GangNodeDone
struct ReadStderrTail {
  int rank = 0;
};
struct DrainLogs {};  // -> LogsDrained
struct Report {
  PartReport report;
};  // to the agent, if one listens
struct WriteFinalReport {
  NodeExitReport report;
};                // writes the report durably, before Leave
struct Leave {};  // clean up and exit 0
using Action = std::variant<LeasePorts, ConnectGang, ProbeGang, StartRank, SignalRanks, WarnRanks,
                            KillEverything, TellGang, ReadStderrTail, DrainLogs, Report,
                            WriteFinalReport, Leave>;

// Named times. Bootstrap events arrive on another thread than the results of waitpid. If an exit
// looks wrong only because such an event is missing, the core waits kSettle before it decides.
inline constexpr Duration kSettle = milliseconds(250);
inline constexpr Duration kAbortNews = milliseconds(50);  // an MPI rank's death may be an MPI_Abort
// The time for the gang to connect; then its start has failed.
inline constexpr Duration kConnectWithin = seconds(30);
// The time within which a node that knows why it cannot reach its parent says so before the others
// give up.
inline constexpr Duration kNamedWithin = seconds(27);
// The time within which the probe ends. Each of its waits is shorter, so this only ends nodes that
// hear nothing more of it.
inline constexpr Duration kProbeWithin = seconds(20);
// The time for the node that has to end the start.
inline constexpr Duration kProbeAbortWithin = seconds(2);
inline constexpr std::size_t kMaxChosenShown = 64;    // nodes that one PartReport names
inline constexpr Duration kInsistEvery = seconds(2);  // between repeats of SIGKILL, DrainLogs
inline constexpr Duration kTailTimeout = seconds(2);  // the time for StderrTail
// The time for the agent to end us before we do it ourselves.
inline constexpr Duration kLeaseTimeout = seconds(2);
inline constexpr std::size_t kMaxTails = 16;  // ranks whose stderr is quoted

class Core {
 public:
  Core();
  ~Core();
  Core(Core&&) noexcept;
  Core& operator=(Core&&) noexcept;

  std::vector<Action> handle(Instant now, const Input& input);
  Instant next_deadline() const;
  PartReport report() const;
  // The gang table in use: the assignment's, or the runner's own if solo; from the first StartRank
  // on, for the shell to make its bootstrap from, with the addresses that the probe chose.
  const SharedGang& gang() const;
  // The result of the gang's probe, for all nodes; nullopt without a probe.
  const std::optional<ProbeResult>& probe() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::runner
