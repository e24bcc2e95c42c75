#pragma once
// The tools that show the stacks of processes, as programs of their ranks: a few at once, each for
// a bounded time, the next tool where one is missing. It makes lines of them (stacks.h).

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "common/io/event_loop.h"
#include "runner/attach/place.h"
#include "runner/attach/stacks.h"

namespace lockstep::runner {

inline constexpr Duration kStackTimeout = seconds(30);  // the time for one tool

class StackRun {
 public:
  struct Callbacks {
    AttachedStart start;
    std::function<void(int id)> kill;
    // The start parameters of the rank, which are changed for the tool; nullptr: the rank has
    // ended.
    std::function<const spawn::RankProcess*(int rank)> rank;
  };
  StackRun(io::EventLoop& loop, Callbacks callbacks, std::vector<TracedProcess> processes,
           bool native, const AttachFacts& facts);
  ~StackRun();
  StackRun(const StackRun&) = delete;
  StackRun& operator=(const StackRun&) = delete;

  // Starts what may run now. Starts nothing while `lines` holds more than a megabyte.
  void go_on(Instant now);
  void failed(int id, int error, spawn::SpawnStage stage);
  void exited(int id, int wait_status);
  void expire(Instant now);
  Instant next_deadline() const;
  bool is_over() const { return left_.empty() && running_.empty(); }

  std::string lines;  // lines for the caller, who erases them

 private:
  struct Run {
    TracedProcess process;
    std::vector<StackTool> tools;  // the tools; the first one runs
    int id = -1;
    Stdio stdio = {};
    std::string output = {}, errors = {};
    Instant kill_at = Instant::never();
    bool is_late = false;
  };
  void start(Run run, Instant now);
  void take(Run& run);
  void finish(std::size_t index, std::string tool, std::string error);
  std::size_t index_of(int id) const;  // running_.size(): the id is not ours
  void unwatch(const Run& run);

  io::EventLoop& loop_;
  const Callbacks callbacks_;
  const bool native_;
  const std::string tools_;
  const std::string no_tracing_;
  std::deque<TracedProcess> left_;
  std::vector<Run> running_;
};

}  // namespace lockstep::runner
