#pragma once
// Takes the stacks of ranks that have not moved for a while, with the tools of `job stacks`
// (runner/attach/stack_run.h), as programs of their ranks, a few at once, each for a bounded time.
// It asks for Python's stacks with native frames, since a call of MPI is visible only there; if the
// tool cannot do that, without them; and without Python, as in MPI_Finalize after its end, for
// native frames alone. One question at a time. A tool stops its process for a moment, so questions
// must be rare.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "runner/attach/place.h"
#include "runner/attach/stack_run.h"
#include "runner/watch/stack_top.h"

namespace lockstep::runner {

class StackAsk {
 public:
  // Called once for each process that was asked for. `top`: nullopt: no stack could be taken. It is
  // not older than `at`.
  using Told = std::function<void(int rank, const std::optional<StackTop>& top, Instant at)>;

  StackAsk(io::EventLoop& loop, io::Clock& clock, AttachPlace& place, AttachFacts facts, Told told)
      : loop_(loop),
        clock_(clock),
        place_(place),
        facts_(std::move(facts)),
        told_(std::move(told)) {}
  ~StackAsk() = default;  // kills the tools
  StackAsk(const StackAsk&) = delete;
  StackAsk& operator=(const StackAsk&) = delete;

  // Processes that are asked for while others are examined are taken afterwards.
  void ask(std::vector<TracedProcess> processes);
  bool is_asking() const { return run_ != nullptr || !waiting_.empty(); }
  // Kills the tools and tells nothing more: the part ends.
  void end();

  // Called by lockstep-spawn for ids from kFirstWatchId on.
  void failed(int id, int error, spawn::SpawnStage stage);
  void exited(int id, int wait_status);
  // notes that the spawner is lost; ends at the next expire()
  void spawn_lost() { is_over_ = true; }

  Instant next_deadline() const;
  void expire(Instant now);

 private:
  struct Asked {
    TracedProcess process;
    std::optional<StackTop> top;
  };
  enum class Way { python_and_native, python, native };
  static std::optional<Way> after(Way way);
  void begin();
  void run(Way way);
  void go_on();
  void take_lines();
  void finish();
  Result<int> start(const spawn::RankProcess& process, Stdio& stdio);

  io::EventLoop& loop_;
  io::Clock& clock_;
  AttachPlace& place_;
  const AttachFacts facts_;
  const Told told_;
  std::vector<TracedProcess> waiting_;
  // The processes of this run, by the pid that the ranks of this node see.
  std::map<int, Asked> asked_;
  std::unique_ptr<StackRun> run_;
  Instant run_at_;  // the time at which it began
  Way way_ = Way::python_and_native;
  std::string lines_;  // output whose last line is not complete
  int next_id_ = kFirstWatchId;
  bool is_over_ = false;
};

}  // namespace lockstep::runner
