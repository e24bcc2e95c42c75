#pragma once
// Carries bytes between the streams of an attached program and the conversation with the client,
// without ever blocking. It reads no more than the conversation has room for, so a client that does
// not read delays only its own program.

#include <functional>

#include "common/io/event_loop.h"
#include "runner/attach/conversation.h"
#include "runner/attach/process.h"

namespace lockstep::runner {

class AttachedProgram {
 public:
  // `moved` is called on the loop when the conversation may have frames to send.
  AttachedProgram(io::EventLoop& loop, Conversation& talk, Stdio stdio,
                  std::function<void()> moved);
  ~AttachedProgram();
  AttachedProgram(const AttachedProgram&) = delete;
  AttachedProgram& operator=(const AttachedProgram&) = delete;

  void go_on();  // the client's frames changed the conversation
  void resize(TerminalSize size);
  // Closes the streams that have nothing to read now, when no process of the program is left. True:
  // both are closed. `force`: closes them although other processes may still have them.
  bool finish(bool force);
  // Ends reading and writing; a terminal hangs up.
  void hang_up();

 private:
  void write_input();
  void end_input();
  bool read_some(AttachStream stream);  // false: nothing more can be read now
  void watch(AttachStream stream);
  io::Fd& fd_of(AttachStream stream);
  int input_fd() const { return stdio_.is_terminal ? stdio_.output.get() : stdio_.input.get(); }

  io::EventLoop& loop_;
  Conversation& talk_;
  Stdio stdio_;
  const std::function<void()> moved_;
  bool is_input_ended_ = false;
  std::string end_bytes_;   // bytes for the end of a terminal's input that are not written yet
  char last_input_ = '\n';  // written
};

}  // namespace lockstep::runner
