#pragma once
// The core files of ranks that a signal ended (lockstep.core): for each rank in turn, the command
// of core_place.h runs below a keeper, as the rank's user in the rank's place, for a bounded time.
// What it says is kept for the final report. Nothing waits for a rank that still runs.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/why/why.h"
#include "common/io/event_loop.h"
#include "runner/attach/core_place.h"
#include "runner/attach/place.h"
#include "runner/attach/process.h"
#include "runner/spawn/client.h"

namespace lockstep::runner {

inline constexpr Duration kCoreTimeout = seconds(40);      // the time for one command
inline constexpr Duration kAllCoresTimeout = seconds(60);  // the time for all cores of a node
// the most cores of a node that are read; the stacks of further ones are not shown
inline constexpr int kMostCoresRead = 4;

// The result for one rank's core file.
struct CoreResult {
  std::string backtrace;  // see RankExit
  Why place;              // CrashedIn; none: unknown
  Why note;  // the path where the file is kept, or why there is none; none: nothing to report
};

class CoreFiles {
 public:
  struct Callbacks {
    std::function<Status(int id, const spawn::RankProcess& process, const Stdio& stdio)> start;
    std::function<void(int id)> kill;
    // The start parameters of the rank, which are changed for the tool; nullptr: it was not
    // started.
    std::function<const spawn::RankProcess*(int rank)> rank;
  };
  // `tools`: the folder of our own tools as the ranks see it; "": none. `since`: when the first
  // rank was started, in seconds since 1970.
  CoreFiles(io::EventLoop& loop, Callbacks callbacks, CorePlace place, bool keeps,
            std::string tools, std::int64_t since);
  ~CoreFiles();
  CoreFiles(const CoreFiles&) = delete;
  CoreFiles& operator=(const CoreFiles&) = delete;

  // Handles the end of a rank with this status of wait(2): looks for its core file if there may be
  // one.
  void exited_rank(int rank, int wait_status, Instant now);
  // Called for ids from kFirstCoreId on.
  void failed(int id, int error, spawn::SpawnStage stage, Instant now);
  void exited(int id, int wait_status, Instant now);
  void expire(Instant now);
  Instant next_deadline() const;
  bool any() const { return running_.has_value() || !waiting_.empty(); }
  void give_up();  // kills the running commands
  const std::map<int, CoreResult>& results() const { return results_; }

 private:
  struct Waiting {
    int rank = 0;
    bool dumped = false;  // whether the kernel reports that it wrote one
  };
  struct Run {
    Waiting of;
    int id = 0;
    Stdio stdio = {};
    std::string output = {};
    Instant kill_at = Instant::never();
  };
  void start_next(Instant now);
  Status start(const Waiting& of, Instant now);
  void take();
  void finish(const Why& problem, Instant now);
  Why note_of(const Run& run, const CoreSaid& said, const Why& problem, bool has_stack) const;
  void unwatch();

  io::EventLoop& loop_;
  const Callbacks callbacks_;
  const CorePlace place_;
  const bool keeps_;
  const std::string tools_;
  const std::int64_t since_;
  std::deque<Waiting> waiting_;
  std::optional<Run> running_;
  std::map<int, CoreResult> results_;
  int next_id_ = kFirstCoreId;
  int read_ = 0;  // how many stacks were asked for
  Instant give_up_at_ = Instant::never();
};

}  // namespace lockstep::runner
