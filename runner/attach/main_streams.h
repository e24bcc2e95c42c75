#pragma once
// The standard streams of rank 0 of a job that has a terminal or takes input (lockstep.terminal).
// What the rank writes goes into its logs, and to the client that is attached. Without a client the
// logs alone count; a client that is heard but does not read holds the rank up, as a terminal does.

#include <functional>
#include <string>

#include "common/io/event_loop.h"
#include "runner/attach/conversation.h"
#include "runner/attach/process.h"
#include "runner/logs/log_capture.h"

namespace lockstep::runner {

class MainStreams {
 public:
  // `logs`: the ends of pipes that LogCapture reads.
  MainStreams(io::EventLoop& loop, Stdio stdio, LogCapture::Writers logs);
  ~MainStreams();
  MainStreams(const MainStreams&) = delete;
  MainStreams& operator=(const MainStreams&) = delete;

  bool is_terminal() const { return stdio_.is_terminal; }
  // Begins a conversation. `moved`: called when it may have frames to send. The first one gets the
  // last earlier output.
  void attach(Conversation& talk, std::function<void()> moved);
  void detach();  // input waits, and output continues
  void go_on();   // the client's frames changed the conversation
  // With false, output that the client does not take is no longer kept for it.
  void wait_for_client(bool wait);
  bool waits_for_client() const { return talk_ != nullptr && waits_; }
  void resize(TerminalSize size);
  // Puts all remaining output into the logs; called when no process of the rank is left.
  // `take_logs` reads the logs' pipes; it returns false if the disk is full. drain() returns false
  // if it must be called again.
  bool drain(const std::function<bool()>& take_logs);

 private:
  struct Side {
    AttachStream stream = AttachStream::output;
    io::Fd* from = nullptr;
    io::Fd log;
    std::string unlogged = {};  // read, and not yet in the log's pipe
    std::string recent = {};    // the output before the first client
  };
  bool write_log(Side& side);
  bool read_some(Side& side);
  void watch(Side& side);
  void close(Side& side);
  std::size_t room(Side& side);
  void write_input();
  int input_fd() const { return stdio_.is_terminal ? stdio_.output.get() : stdio_.input.get(); }

  io::EventLoop& loop_;
  Stdio stdio_;
  Side sides_[2];
  Conversation* talk_ = nullptr;
  std::function<void()> moved_;
  bool was_attached_ = false, waits_ = true, is_input_ended_ = false;
  char last_input_ = '\n';
};

}  // namespace lockstep::runner
