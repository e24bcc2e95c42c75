#pragma once
// Calls RankWatch on a thread of its own: a reading of /proc waits for a process whose memory the
// kernel holds, and the runner must not. One sample at a time; its result comes on the loop. A
// thread that hangs is left behind, and holds up nothing. Where no thread can be had, nothing is
// watched, and the first wish says why.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/event_loop.h"
#include "runner/watch/rank_watch.h"

namespace lockstep::runner {

class WatchThread {
 public:
  // `done` is called on the loop, never after this object is destroyed.
  WatchThread(io::EventLoop& loop, std::function<void(WatchResult)> done, std::string root = "");
  ~WatchThread();  // does not wait for a sample
  WatchThread(const WatchThread&) = delete;
  WatchThread& operator=(const WatchThread&) = delete;

  // Begins a sample. Returns conflict if the previous sample is not finished, and
  // resource_exhausted if no thread could be started, which is not tried again.
  Status sample(Instant now, WatchLook look);
  // Passes on a stack for the next sample; see RankWatch.
  void take_stack(int rank, std::optional<StackTop> top, Instant at);
  void take_counts(int rank, std::vector<CollectiveCount> counts, Instant at);

 private:
  struct Shared;
  static void work(const std::shared_ptr<Shared>& shared);
  Status start();

  std::shared_ptr<Shared> shared_;
  bool is_started_ = false;
  std::string why_not_;  // set if no thread could be started
};

}  // namespace lockstep::runner
