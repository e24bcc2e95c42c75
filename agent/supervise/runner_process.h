#pragma once
// The agent's view of one live runner: its process (a pidfd in the loop) and its control socket,
// which it dials again while the process is alive. It owns the connection, never the process.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/domain/runners/runner_protocol.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/event_loop.h"
#include "common/io/net/framed_socket.h"
#include "common/io/process.h"

namespace lockstep::agent {

class RunnerProcess {
 public:
  struct Events {
    std::function<void(PartReport)> on_report;
    std::function<void(PartUse)> on_use;
    std::function<void(const AttachFrame&)> on_attach;
    std::function<void()> on_death;  // once; the owner may destroy this object in it
  };
  RunnerProcess(io::EventLoop& loop, io::AttemptDir directory, io::ProcessIdentity identity,
                Events events);
  ~RunnerProcess();
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  // Sends the runner its assignment, as soon as it is connected and again after each reconnect.
  void update(const Assignment& assignment);
  // Sends the log sizes that the launcher has, in the same way.
  void logs_taken(const std::vector<LogSize>& logs);
  // Sends the order to end the part, in the same way; the first order counts.
  void end(const EndPart& order);
  void attach(const AttachFrame& frame);  // dropped while it is not connected
  bool is_connected() const { return socket_ != nullptr; }
  Status kill();
  // Tries to connect. Call it when the runner's socket may have appeared.
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
  std::string assignment_;  // encoded; "" = nothing to send
  std::string end_;         // encoded; "" = nothing to send
  std::map<int, LogSize> logs_taken_;
  Instant next_dial_{};
  Duration dial_pause_;
};

}  // namespace lockstep::agent
