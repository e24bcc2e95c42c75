#pragma once
// The container of one attempt on this node, from its start to its end: the engine's program as our
// child, the folder in which lockstep-spawn finds our socket, and the error if it does not connect.
// No function blocks: an engine that hangs gets kContainerGrace for each task and is then given up.
// It decides nothing, and knows nothing about ranks.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/domain/ranks/exit_report.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/event_loop.h"
#include "common/io/process.h"
#include "runner/container/engine_program.h"
#include "runner/container/memory_events.h"
#include "runner/container/pids_events.h"
#include "runner/container/plan.h"

namespace lockstep::runner {

// The time for lockstep-spawn to connect.
inline constexpr Duration kContainerTimeout = seconds(120);
// The time for its end, and for its removal.
inline constexpr Duration kContainerGrace = seconds(10);

class ContainerProcess {
 public:
  // Called on the loop: one of the two, at most once.
  struct Events {
    std::function<void(io::Fd socket)> connected;  // called with the socket to lockstep-spawn
    // Called when lockstep-spawn did not connect. environment_failed: the engine rejects the job's
    // docker_args, so a retry fails too.
    std::function<void(Cause cause, std::string why)> failed;
  };

  // Makes the folders and files to mount, listens, and starts the engine's program.
  static Result<std::unique_ptr<ContainerProcess>> start(io::EventLoop& loop, ContainerPlan plan,
                                                         const io::AttemptDir& directory,
                                                         const io::User& run_as, Events events);
  ~ContainerProcess();
  ContainerProcess(const ContainerProcess&) = delete;
  ContainerProcess& operator=(const ContainerProcess&) = delete;

  // The deadline for lockstep-spawn to connect; never() once it has connected or failed.
  Instant connect_by() const;
  // The time of the next expire(): the earlier of connect_by() and the deadline of the container's
  // removal.
  Instant next_deadline() const;
  void expire(Instant now);

  bool is_connected() const { return state_ == State::connected; }
  // Stops waiting for a container that has not connected; no event follows.
  void give_up();
  // Resumes a container that was paused (`docker pause`), so that its ranks receive signals.
  void unpause();
  // Removes the container and kills its processes; then calls `done` on the loop, even if the
  // engine fails to do it within kContainerGrace. If it is called again meanwhile, only the newest
  // `done` is called.
  void remove(std::function<void()> done);
  // Ends the container: call this repeatedly after closing the socket to lockstep-spawn; the first
  // call starts the deadlines. True: the container has ended, or its removal failed and is given up
  // (why_left()). A container that does not end within kContainerGrace is removed; one that never
  // connected is removed at once.
  bool has_ended(Instant now);
  bool is_removing() const { return removing_ && !removing_->has_ended(); }
  // Why the container could not be removed; "" = it was, or the removal has not been given up.
  const std::string& why_left() const { return why_left_; }
  // The end of the output of the engine's program.
  std::string said() const;

  // Writes the other nodes of the gang into the container's hosts file.
  Status name_gang(const GangTable& gang);
  // Whether the kernel has killed a process in it for lack of memory since the last call. Always
  // false for a job without a memory limit.
  bool is_out_of_memory();
  // The number of processes and threads that the kernel refused to all its ranks together, and the
  // limit.
  long long refused_forks() const { return pids_ ? pids_->refused() : 0; }
  int pids_limit() const { return plan_.pids_limit; }
  // The pid of lockstep-spawn in our own namespace; -1: it has not connected.
  int spawn_pid() const { return spawn_pid_; }

 private:
  enum class State { starting, connected, failed };

  ContainerProcess(io::EventLoop& loop, ContainerPlan plan, const io::AttemptDir& directory,
                   const io::User& run_as, Events events);
  Status make_places();
  Status listen();
  Status run();
  void accept();
  void tell_pid() const;
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
  std::string refused_peer_;  // a peer that was refused because of its uid, for the error
  int spawn_pid_ = -1;
  std::optional<MemoryEvents> memory_;
  std::optional<PidsEvents> pids_;
  std::function<void()> removed_;             // called at the end of the removal
  Instant removal_until_ = Instant::never();  // the deadline of a running removal
  Instant remove_at_ = Instant::never(), leave_at_ = Instant::never();
  std::string why_left_;
  std::unique_ptr<EngineProgram> running_, removing_, unpausing_;
};

}  // namespace lockstep::runner
