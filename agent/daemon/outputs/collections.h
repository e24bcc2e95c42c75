#pragma once
// Sends the outputs of finished attempts to the launcher, on its own threads: it waits for an
// unreachable launcher, so one part may take long and must not delay staging or removal, nor, while
// it waits, other collections. It decides nothing: each call comes from an action of agent/core,
// and each answer is an input.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "agent/core/core.h"
#include "agent/supervise/agent_home.h"
#include "agent/supervise/workers.h"
#include "agent/workspace/collect/collect.h"
#include "common/io/event_loop.h"

namespace lockstep::agent {

// Ends a collection's retries: give_up() cancels it; settle() stops its waiting for space.
class CancelToken {
 public:
  // The collections that may work at the same time. A collection that waits gives its slot back.
  using Slots = std::counting_semaphore<>;
  explicit CancelToken(Slots* held = nullptr) : held_(held) {}
  // Waits for `duration`, or until settle() or give_up(), then for a slot. False: give_up() was
  // called.
  bool wait(Duration duration);
  bool given_up() const { return given_up_; }
  void give_up();

  // Records whether the launcher's disk does not take the remaining outputs: full, or broken.
  void no_space(bool is_short) { no_space_ = is_short; }
  bool no_space() const { return no_space_; }
  // Lets the collection drop outputs that the launcher's disk does not take, instead of waiting.
  void settle();
  bool settles() const { return settles_; }

 private:
  void end_waits(std::atomic<bool>& why);

  Slots* const held_;  // null: unlimited
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> given_up_ = false;
  std::atomic<bool> no_space_ = false;
  std::atomic<bool> settles_ = false;
};

// The functions of agent/workspace/collect/collect.h that Collections calls. Empty: no outputs
// exist.
struct OutputFunctions {
  using Progress = std::function<void(const std::string&)>;
  std::function<bool(const Assignment&, const io::AttemptDir&)> is_anything_left;
  std::function<Result<Collected>(const Assignment&, const io::AttemptDir&, const Interrupted&,
                                  const Progress&, CancelToken&)>
      collect;
  // Captures the new output of a running part since the last capture.
  std::function<Result<std::vector<CollectedOutput>>(const Assignment&, const io::AttemptDir&,
                                                     SoFarMemory&)>
      capture_so_far;
  std::function<Result<CapturedCheckpoint>(const Assignment&, const io::AttemptDir&,
                                           CheckpointMemory&, bool insist)>
      capture_checkpoint;
};

class Collections {
 public:
  using Emit = std::function<void(Input)>;  // called on the loop's thread

  // `quick` runs the check whether there are outputs; it must be destroyed before this object.
  Collections(io::EventLoop& loop, Workers& quick, AgentHome home, OutputFunctions functions,
              Emit emit, Duration try_again_after = seconds(2));
  ~Collections();
  Collections(const Collections&) = delete;
  Collections& operator=(const Collections&) = delete;

  // `killed`: when ranks were killed. -> OutputsProgress…, OutputsCollected
  void start(const Assignment& assignment, std::vector<Instant> killed = {});
  // Captures the folders that changed -> FolderCaptured for each. After a long capture there is a
  // pause in which these calls do nothing.
  void capture_folders(const Assignment& assignment);
  // Captures the checkpoint -> CheckpointCaptured
  void capture_checkpoint(const Assignment& assignment, bool insist);
  // Outputs that the launcher has no space for become problems; the rest is kept.
  void settle(const AttemptId& attempt);
  // Cancels the attempt's work; no more inputs about it follow.
  void forget(const AttemptId& attempt);

 private:
  // The memory between two captures, and the lock that a capture holds while it works.
  struct Memory {
    std::mutex in_use, in_checkpoint;
    SoFarMemory so_far;
    CheckpointMemory checkpoint;
    std::string checkpoint_failure;  // why the last try failed; "": it did not
    Duration checkpoint_failed{0};   // when our log reported a failure, in time since boot
  };
  struct Ended {
    Assignment assignment;
    std::vector<Instant> killed;
    std::shared_ptr<Memory> memory;
  };
  std::shared_ptr<Memory> memory_of(const AttemptId& attempt);
  void look(const Ended& ended, const std::shared_ptr<CancelToken>& cancel);
  void collect(const Ended& ended, const std::shared_ptr<CancelToken>& cancel);
  void say(const std::shared_ptr<CancelToken>& cancel, Input input);  // called by a worker

  io::EventLoop& loop_;
  Workers& quick_;
  const AgentHome home_;
  const OutputFunctions functions_;
  const Emit emit_;
  const Duration try_again_after_;
  CancelToken::Slots slots_;
  std::map<AttemptId, std::shared_ptr<CancelToken>> at_work_;
  struct Folders {
    bool is_at_work = false;
    Duration pause_until{0};  // in time since boot
  };
  std::map<AttemptId, Folders> folders_;
  std::map<AttemptId, std::shared_ptr<Memory>> memories_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  // Declared last, so that their threads end first. A collection may wait for long, so captures of
  // running parts have threads of their own.
  Workers workers_, capturers_;
};

}  // namespace lockstep::agent
