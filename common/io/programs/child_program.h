#pragma once
// A program that runs beside us and whose output is read while it runs. It has a process group of
// its own, so that its children end with it, and the kernel kills it when the thread that started
// it ends. No function blocks, the destructor apart. run_program.h is for short programs whose
// whole output is wanted; start_detached() for processes that outlive us.

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/file_system.h"

namespace lockstep::io {

class ChildProgram {
 public:
  // How it ended: an exit code, or the signal that killed it.
  struct End {
    int exit_code = 0;
    int signal = 0;  // 0: it exited
  };

  // Words[0] is the program's absolute path, `input` its standard input (-1: /dev/null). It gets
  // our environment and the working directory "/". A program that cannot be executed exits with 127
  // and prints the reason on its standard error.
  static Result<ChildProgram> start(const std::vector<std::string>& words, int input);
  ChildProgram(ChildProgram&& other) noexcept;
  ChildProgram& operator=(ChildProgram&&) = delete;
  // Kills the group, and waits at most a second for the program's end.
  ~ChildProgram();

  int pid() const { return pid_; }
  // Ends of pipes; reading from them does not block.
  int output() const { return output_.get(); }
  int errors() const { return errors_.get(); }
  // A pidfd: readable when the program has ended.
  int ended() const { return pidfd_.get(); }
  // Sends a signal to the whole group; it is not sent after reap() has returned an end.
  void signal(int signal);
  // How the program ended; nullopt: it still runs. Once it has ended, kills the rest of its group.
  std::optional<End> reap();

 private:
  ChildProgram(int pid, Fd pidfd, Fd output, Fd errors)
      : pid_(pid),
        pidfd_(std::move(pidfd)),
        output_(std::move(output)),
        errors_(std::move(errors)) {}

  int pid_ = 0;  // 0: reaped. Until then neither the pid nor the group's number is used again
  Fd pidfd_, output_, errors_;
};

}  // namespace lockstep::io
