#pragma once
// The interface of attachments to their runner.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/domain/runners/attach_frames.h"
#include "common/domain/ranks/standing.h"
#include "runner/attach/process.h"
#include "runner/spawn/client.h"

namespace lockstep::runner {

// A rank that was started on this node.
struct RankHere {
  spawn::RankProcess process;
  int pid = 0;  // the pid as lockstep-spawn sees it; 0: not reported yet
  bool lives = true;
};

// Values that stay the same while ranks run.
struct AttachFacts {
  AttemptId attempt;
  int node_rank = 0;
  int first_rank = 0;
  int ranks_here = 1;
  std::string shell;      // the program if the order names none; "": there is no shell
  std::uint32_t uid = 0;  // the ranks' user, in our user namespace
  std::string tools;      // the folder of our own tools, as the ranks see it; "": none
  std::string ptrace_scope = "0";
};

class AttachPlace {
 public:
  virtual ~AttachPlace() = default;
  virtual void send(const AttachFrame& frame) = 0;
  virtual const RankHere* rank(int rank) const = 0;  // nullptr: the rank is not started
  // The last standings of the ranks on this node; ranks that are not watched are missing.
  virtual RankStandings standings() const { return {}; }
  // The orders to lockstep-spawn; nullptr: it takes none, now or for ever. `pid`: as we see it; -1:
  // unknown.
  virtual spawn::Client* spawn() = 0;
  virtual int spawn_pid() const = 0;
  // Tells that a program was started beside the rank: its limits hold for the program, too.
  virtual void started(int rank, int pid) = 0;
  virtual void ended(int rank) = 0;
};

// Ids for lockstep-spawn of programs that are not ranks: one range for each part of the runner that
// starts programs.
inline constexpr int kFirstAttachedId = 4 << 28;
inline constexpr int kFirstCoreId = 5 << 28;   // CoreFiles
inline constexpr int kFirstWatchId = 6 << 28;  // stacks that the watch takes
inline constexpr int kFirstKeptId = 7 << 28;   // KeptStacks

// Starts a program below a keeper, as a process of the rank; closes its ends. The id.
using AttachedStart =
    std::function<Result<int>(int rank, const spawn::RankProcess& process, Stdio& stdio)>;

}  // namespace lockstep::runner
