#pragma once
// The runner's end of control.sock. Any number of agents may connect and leave (an agent restarts).
// Each gets the full status when it connects and at each change. Each may send the assignment, the
// log sizes that the launcher has, and the order to end the part, any number of times. Frames of
// attachments go both ways; one that no agent hears is lost, and repaired by its client.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/domain/runners/runner_protocol.h"
#include "common/io/event_loop.h"
#include "common/io/net/framed_socket.h"

namespace lockstep::runner {

class RunnerServer {
 public:
  struct Events {
    std::function<PartReport()> current;
    std::function<void(Assignment)> on_assignment;
    std::function<void(const LogsTaken&)> on_logs_taken;
    std::function<void(const EndPart&)> on_end;
    std::function<void(const AttachFrame&)> on_attach;
  };

  static Result<std::unique_ptr<RunnerServer>> listen(io::EventLoop& loop,
                                                      const std::string& directory,
                                                      const std::string& name, Events events);
  ~RunnerServer();
  RunnerServer(const RunnerServer&) = delete;
  RunnerServer& operator=(const RunnerServer&) = delete;

  void tell(const PartReport& report);
  void tell(const PartUse& use);
  void tell(const AttachFrame& frame);
  std::size_t backlog_bytes() const;  // queued for all agents together

 private:
  RunnerServer(io::EventLoop& loop, io::Fd listener, std::string path, Events events);
  void accept();
  void receive(std::uint64_t connection, const std::string& frame);

  io::EventLoop& loop_;
  io::Fd listener_;
  std::string path_;
  Events events_;
  std::uint64_t last_connection_ = 0;
  std::map<std::uint64_t, std::unique_ptr<io::FramedSocket>> connections_;
};

}  // namespace lockstep::runner
