#pragma once
// Our terminal in raw mode, so that each key goes to a program elsewhere. It is as before when this
// object is gone, and when a fault ends the process. At most one object at a time.

#include <termios.h>

#include <optional>

#include "common/domain/runners/attach_frames.h"

namespace lockstep::cli {

class RawTerminal {
 public:
  // `fd` is a terminal; if its modes cannot be read, nothing is changed.
  explicit RawTerminal(int fd);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  void enter();  // called again after the process was stopped and continued

 private:
  const int fd_;
  std::optional<termios> before_;
};

// The size of the terminal; 24 x 80 if it does not tell.
TerminalSize terminal_size(int fd);

}  // namespace lockstep::cli
