#pragma once
// One runner as a function: the ranks of one gang on one node, from start to final report. It decides
// what ended first and what must be terminated; it never forks, signals, reads a clock or a socket.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/runner_messages.h"

namespace lockstep::runner {

// ---- inputs ------------------------------------------------------------------------------------
struct Begin { Assignment assignment; };     // first input, once
struct Endpoint {                            // the gang socket is bound, ports are leased
  std::uint16_t runner_port = 0; PublicKey runner_key; std::uint16_t master_port = 0;
};
struct AssignmentChanged { Assignment assignment; };  // phase moved: run or stop
struct GangConnected {};                     // GangStart: the whole tree is connected
struct PeerLost { int node_rank = 0; };      // a tree neighbour vanished (the launcher decides on nodes)
struct AbortFromPeer { GangAbort abort; };
struct DrainedByGang {};                     // every rank of the gang is done
struct RankStarted { int rank = 0; int pid = 0; };
struct RankStartFailed { int rank = 0; int exit_code = 125; std::string why; };  // 126/127 or ours
struct RankConnected { int rank = 0; };      // PMIx client connected
struct RankFinalized { int rank = 0; };      // PMIx client finalized
struct RankAborted { int rank = 0; int code = 0; std::string message; };  // MPI_Abort
struct RankExited { int rank = 0; int exit_code = 0; int signal = 0; bool oom = false; };
struct StderrTail { int rank = 0; std::string text; };  // answer to ReadStderrTail
struct LogsDrained { std::vector<LogSize> sizes; };     // all pipes are at EOF and on disk
struct MasterPortTaken {};                   // someone else listens there before rank 0 did
struct SpawnLost {};                         // lockstep-spawn died: its ranks with it
struct SetupFailed { Cause cause = Cause::start_failed; std::string why; };
struct Tick {};
using Input = std::variant<Begin, Endpoint, AssignmentChanged, GangConnected, PeerLost, AbortFromPeer,
                           DrainedByGang, RankStarted, RankStartFailed, RankConnected, RankFinalized,
                           RankAborted, RankExited, StderrTail, LogsDrained, MasterPortTaken,
                           SpawnLost, SetupFailed, Tick>;

// ---- actions -----------------------------------------------------------------------------------
struct LeasePorts { bool master_port = false; };       // -> Endpoint
struct ConnectGang { GangTable gang; };                // -> GangConnected
struct StartRank { int rank = 0; int local_rank = 0; };
struct SignalRanks { int signal = 0; };                // all that live
struct KillEverything {};                              // SIGKILL by cgroup / namespace / sweep
struct TellGang { GangMessage message; };              // GangAbort, GangDrained
struct ReadStderrTail { int rank = 0; };
struct DrainLogs {};                                   // -> LogsDrained
struct Report { PartReport report; };                  // to the agent, if one listens
struct WriteFinalReport { NodeExitReport report; };    // durable, before Leave
struct Leave {};                                       // clean up and exit 0
using Action = std::variant<LeasePorts, ConnectGang, StartRank, SignalRanks, KillEverything, TellGang,
                            ReadStderrTail, DrainLogs, Report, WriteFinalReport, Leave>;

class Core {
 public:
  Core();
  ~Core();
  Core(Core&&) noexcept;
  Core& operator=(Core&&) noexcept;

  std::vector<Action> handle(Instant now, const Input& input);
  Instant next_deadline() const;
  PartReport report() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::runner
