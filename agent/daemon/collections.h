#pragma once
// Brings what finished attempts left to the launcher, on threads of its own: a launcher that is
// away is waited for, so one part may take long and must not hold up staging or removal. It decides
// nothing: it is asked by an action of agent/core and answers with an input.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/core.h"
#include "agent/supervise/agent_home.h"
#include "agent/supervise/workers.h"
#include "agent/workspace/collect.h"
#include "common/io/event_loop.h"

namespace lockstep::agent {

// How long a collection goes on trying: until somebody gives it up, or settles for what fits.
class CancelToken {
 public:
  // False: it was given up, before or within `duration`. Ends early when it begins to settle.
  bool wait(Duration duration);
  bool given_up() const { return given_up_; }
  void give_up();

  // The launcher has no space for what is left, or has some again.
  void no_space(bool is_short) { no_space_ = is_short; }
  bool no_space() const { return no_space_; }
  // What finds no space is not waited for any more.
  void settle();
  bool settles() const { return settles_; }

 private:
  void end_waits(std::atomic<bool>& why);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> given_up_ = false;
  std::atomic<bool> no_space_ = false;
  std::atomic<bool> settles_ = false;
};

// agent/workspace, as the shell uses it: see collect.h there. Empty: nothing is ever left.
struct OutputFunctions {
  using Progress = std::function<void(const std::string&)>;
  std::function<bool(const Assignment&, const io::AttemptDir&)> is_anything_left;
  std::function<Result<Collected>(const Assignment&, const io::AttemptDir&, const Progress&,
                                  CancelToken&)>
      collect;
  // ./logs or ./outputs of a part that runs, if they are not as `seen` says; that is renewed.
  std::function<Result<std::optional<CollectedOutput>>(const Assignment&, const io::AttemptDir&,
                                                       OutputKind kind, Digest& seen)>
      capture_folder;
  std::function<Result<CapturedCheckpoint>(const Assignment&, const io::AttemptDir&,
                                           CheckpointMemory&, bool insist)>
      capture_checkpoint;
};

class Collections {
 public:
  using Emit = std::function<void(Input)>;  // called on the loop's thread

  // `quick`: for the look whether there is anything; it ends before this does.
  Collections(io::EventLoop& loop, Workers& quick, AgentHome home, OutputFunctions functions,
              Emit emit);
  ~Collections();
  Collections(const Collections&) = delete;
  Collections& operator=(const Collections&) = delete;

  void start(const Assignment& assignment);  // -> OutputsProgress…, OutputsCollected
  // ./logs each time, ./outputs now and then -> FolderCaptured for each that changed
  void capture_folders(const Assignment& assignment);
  void capture_checkpoint(const Assignment& assignment, bool insist);  // -> CheckpointCaptured
  // What the launcher has no space for becomes a problem; the rest is kept.
  void settle(const AttemptId& attempt);
  // What is at work for it gives up, and nothing more is said.
  void forget(const AttemptId& attempt);

 private:
  void look(const Assignment& assignment, const std::shared_ptr<CancelToken>& cancel);
  void collect(const Assignment& assignment, const std::shared_ptr<CancelToken>& cancel);
  void say(const std::shared_ptr<CancelToken>& cancel, Input input);  // from a worker

  io::EventLoop& loop_;
  Workers& quick_;
  const AgentHome home_;
  const OutputFunctions functions_;
  const Emit emit_;
  std::map<AttemptId, std::shared_ptr<CancelToken>> at_work_;
  struct Folders {
    bool is_at_work = false;
    int rounds = 0;
    std::map<OutputKind, Digest> seen;  // of those that were captured
  };
  std::map<AttemptId, Folders> folders_;
  std::map<AttemptId, std::shared_ptr<CheckpointMemory>> memories_;  // one capture at a time each
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Workers workers_;  // last: it ends first
};

}  // namespace lockstep::agent
