#pragma once
// One live runner as the agent sees it: its process (a pidfd in the loop) and its control socket,
// dialled again while the process lives. It owns the connection, never the process.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/domain/runner_messages.h"
#include "common/io/attempt_dir.h"
#include "common/io/event_loop.h"
#include "common/io/framed_socket.h"
#include "common/io/process.h"

namespace lockstep::agent {

class RunnerProcess {
 public:
  struct Events {
    std::function<void(PartReport)> on_report;
    std::function<void()> on_death;  // once; the owner may destroy this object in it
  };
  RunnerProcess(io::EventLoop& loop, io::AttemptDir directory, io::ProcessIdentity identity,
                Events events);
  ~RunnerProcess();
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  // Sets the assignment, which is sent once connected and after each reconnect.
  void update(const Assignment& assignment);
  // The same for how much of its logs the launcher has.
  void logs_taken(const std::vector<LogSize>& logs);
  // The same for the order to end the part.
  void end(const EndPart& order);
  Status kill();
  // Tries to connect, because the socket may exist now.
  void dial(Instant now);
  // When to dial again; never() while connected.
  Instant next_dial() const { return next_dial_; }
  const io::ProcessIdentity& identity() const { return identity_; }

 private:
  void connected(io::Fd fd);
  void receive(const std::string& frame);

  io::EventLoop& loop_;
  io::AttemptDir directory_;
  io::ProcessIdentity identity_;
  Events events_;
  io::Fd process_;  // pidfd
  std::unique_ptr<io::FramedSocket> socket_;
  std::string assignment_;  // encoded; "" = nothing to tell
  std::string end_;         // the same
  std::map<int, LogSize> logs_taken_;
  Instant next_dial_{};
  Duration dial_pause_;
};

}  // namespace lockstep::agent
