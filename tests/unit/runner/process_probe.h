#pragma once
// Helpers of the runner's tests: waiting for a condition, a pipe whose end of file proves that
// every process that inherited it has ended, and a directory that removes itself.

#include <functional>
#include <optional>
#include <string>

#include "common/io/event_loop.h"
#include "common/io/file_system.h"

namespace lockstep::runner::testing {

// Turns the loop until `done` is true; false after a minute.
bool turn_until(io::EventLoop& loop, const std::function<bool()>& done);
// Waits without a loop, calling `done` every 5 ms; false after a minute.
bool wait_until(const std::function<bool()>& done);

class Pipe {
 public:
  Pipe();
  int writer() const { return writer_.get(); }
  void close_writer() { writer_.reset(); }
  // Reads until every writer has closed the pipe; nullopt if one is still open after a minute.
  std::optional<std::string> read_to_end();
  // Reads up to and including the next newline; "" after a minute.
  std::string read_line();

 private:
  io::Fd reader_, writer_;
};

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bool running_as_root();

}  // namespace lockstep::runner::testing
