#pragma once
// The container of one attempt on this node, from its start to its end: the engine's program as our
// child, the folder in which lockstep-spawn finds our socket, and the error when it does not
// connect. Nothing here waits: an engine that hangs is given kContainerGrace for each of its tasks,
// and is left then. It decides nothing, and knows nothing of ranks.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/domain/exit_report.h"
#include "common/io/attempt_dir.h"
#include "common/io/event_loop.h"
#include "common/io/process.h"
#include "runner/container/engine_program.h"
#include "runner/container/memory_events.h"
#include "runner/container/pids_events.h"
#include "runner/container/plan.h"

namespace lockstep::runner {

inline constexpr Duration kContainerTimeout = seconds(120);  // for lockstep-spawn in it
inline constexpr Duration kContainerGrace = seconds(10);     // for its end, and for its removal

class ContainerProcess {
 public:
  // On the loop. One of the first two, at most once.
  struct Events {
    std::function<void(io::Fd socket)> connected;  // to lockstep-spawn
    // The container did not connect. environment_failed: it can never start as the job specifies
    // it, so a retry would not help.
    std::function<void(Cause cause, std::string why)> failed;
  };

  // Creates the mounted folders, listens, and starts the engine's program.
  static Result<std::unique_ptr<ContainerProcess>> start(io::EventLoop& loop, ContainerPlan plan,
                                                         const io::AttemptDir& directory,
                                                         const io::User& run_as, Events events);
  ~ContainerProcess();
  ContainerProcess(const ContainerProcess&) = delete;
  ContainerProcess& operator=(const ContainerProcess&) = delete;

  // The deadline for connecting; never() once it connected or failed.
  Instant connect_by() const;
  // When to call expire(): then, or when its removal may take no longer.
  Instant next_deadline() const;
  void expire(Instant now);

  bool is_connected() const { return state_ == State::connected; }
  // Before it connected: stops waiting for it; no event follows.
  void give_up();
  // Resumes a paused container (`docker pause`), so that its processes receive signals.
  void unpause();
  // Ends it, whatever runs in it; then calls `done` on the loop, also when the engine does not do
  // it within kContainerGrace. Asked again meanwhile, only the newest `done` is called.
  void remove(std::function<void()> done);
  // Call this repeatedly after closing the socket to lockstep-spawn; the first call starts the
  // deadlines. True: the container has ended, or its removal failed and is given up (why_left()).
  // A container that does not end within kContainerGrace is removed; one that never connected is
  // removed at once.
  bool has_ended(Instant now);
  bool is_removing() const { return removing_ && !removing_->has_ended(); }
  // Why it is there still, once that is known; "" = it is not.
  const std::string& why_left() const { return why_left_; }
  // The last of what the engine's program printed.
  std::string said() const;

  // The other nodes of the gang in its hosts file.
  Status name_gang(const GangTable& gang);
  // Of a job with a memory limit: the kernel has killed something in it since this was asked last.
  bool is_out_of_memory();
  // How many processes and threads its ranks were refused together, and their limit.
  long long refused_forks() const { return pids_ ? pids_->refused() : 0; }
  int pids_limit() const { return plan_.pids_limit; }

 private:
  enum class State { starting, connected, failed };

  ContainerProcess(io::EventLoop& loop, ContainerPlan plan, const io::AttemptDir& directory,
                   const io::User& run_as, Events events);
  Status make_places();
  Status listen();
  Status run();
  void accept();
  void ended(int wait_status);
  void fail(Cause cause, std::string why);
  void stop_listening();
  void removal_ended();
  std::string last_words() const;
  bool is_refused(int wait_status) const;
  EngineProgram::Order order(std::vector<std::string> words) const;

  io::EventLoop& loop_;
  const ContainerPlan plan_;
  const io::AttemptDir directory_;
  const io::User run_as_;
  Events events_;
  State state_ = State::starting;
  Instant connect_by_;
  io::Fd listener_;
  std::string refused_peer_;  // who connected and was not let in, for the error
  std::optional<MemoryEvents> memory_;
  std::optional<PidsEvents> pids_;
  std::function<void()> removed_;             // who is told of the end of the removal
  Instant removal_until_ = Instant::never();  // while one runs
  Instant remove_at_ = Instant::never(), leave_at_ = Instant::never();
  std::string why_left_;
  std::unique_ptr<EngineProgram> running_, removing_, unpausing_;
};

}  // namespace lockstep::runner
