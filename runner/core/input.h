#pragma once
// The inputs of a runner's core: its assignment, events of the ranks here, messages of the gang's
// other nodes, and the time.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/runners/runner_protocol.h"
#include "common/domain/why/ranks/parts.h"

namespace lockstep::runner {

// The first input, sent once. `self` describes this node (node, hostname, address, host_id, gpus);
// a solo runner makes the gang table from it. Its ports are ignored: Endpoint has them.
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
};                          // phase moved: run or stop
struct GangConnected {      // GangStart: the whole tree is connected
  SharedGang gang = {};     // the whole table
  std::uint32_t knows = 0;  // GangStart::knows
};
// The result of looking, while the gang is not connected, why this node cannot reach its parent in
// the tree; absent: it can. The newest counts.
struct ParentChecked {
  std::optional<PathFailure> failure;
};
// The probe of the gang's network has ended.
struct ProbeDone {
  enum class Verdict {
    passed,
    failed_here,       // this node ends the gang's start for it
    failed_elsewhere,  // another does: its GangAbort follows
  };
  ProbeResult result;
  Verdict verdict = Verdict::passed;
};
struct PeerLost {
  int node_rank = 0;
};  // a tree neighbour is silent (the launcher decides whether its node is lost)
struct AbortFromPeer {
  GangAbort abort;
};
struct PeerDone {
  GangNodeDone done;
};  // every rank of that node exited 0
struct RankStarted {
  int rank = 0;
  int pid = 0;
};
struct RankStartFailed {
  int rank = 0;
  int exit_code = 125;
  Why why;
};  // 126 or 127 as in shells, or our 125
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
  bool killed_by_user = false;  // SIGKILL by `lockstep job signal`
  std::string kernel = {};      // for SIGKILL: the kernel's log about it; "": nothing
};
struct StderrTail {
  int rank = 0;
  std::string text;
};  // answer to ReadStderrTail
struct LogsDrained {
  std::vector<LogSize> sizes;
};                          // all pipes are read to their end, and the logs are on disk
struct MasterPortTaken {};  // another process listened on it before rank 0
struct SpawnLost {          // lockstep-spawn or its container died, and the ranks with it
  SpawnEnd end = SpawnEnd::died;
};
struct BootstrapLost {  // the ranks' PMIx server died: those that have not finalized may hang
  std::string said;     // how the server ended
};
struct SetupFailed {
  Cause cause = Cause::start_failed;
  Why why;
};
struct GangHangs {  // found on node rank 0: lockstep.on_hang ends the gang for it
  Found found;
};
struct LeaseRenewed {  // only if the assignment has a lease; may come before Begin
  Instant until;
};
struct Tick {};
using Input =
    std::variant<Begin, Endpoint, AssignmentChanged, GangConnected, ParentChecked, ProbeDone,
                 PeerLost, AbortFromPeer, PeerDone, RankStarted, RankStartFailed, RankConnected,
                 RankFinalized, RankAborted, RankExited, StderrTail, LogsDrained, MasterPortTaken,
                 SpawnLost, BootstrapLost, SetupFailed, GangHangs, LeaseRenewed, Tick>;

}  // namespace lockstep::runner
