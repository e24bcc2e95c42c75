#pragma once
// A program that runs as long as we want it, or until it ends: an ssh that holds a connection. It
// is in a process group of its own with all that it starts (a jump's ssh). It ends with this
// object, and with the thread that made it, however that ends.

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/file_system.h"

namespace lockstep::compute::ssh {

class HeldProcess {
 public:
  // Starts a process. Standard input and output are /dev/null. `environment`: "NAME=value", beside
  // ours.
  static Result<std::unique_ptr<HeldProcess>> start(const std::vector<std::string>& words,
                                                    const std::vector<std::string>& environment);
  ~HeldProcess();  // sends SIGTERM, and SIGKILL to the rest after two seconds
  HeldProcess(const HeldProcess&) = delete;
  HeldProcess& operator=(const HeldProcess&) = delete;

  enum class Wait { ended, stopped, timed_out };
  // Waits until the process has ended, `stop` becomes readable, or the time is over. timeout < 0:
  // no limit.
  Wait wait(int stop, Duration timeout);
  // Sends SIGTERM, from any thread.
  void terminate();
  // The end of the process's standard error.
  const std::string& errors();
  std::string how_it_ended() const;  // "with 255", "by signal 9"; after Wait::ended

 private:
  HeldProcess(pid_t pid, io::Fd process, io::Fd errors)
      : pid_(pid), process_(std::move(process)), errors_fd_(std::move(errors)) {}
  void read_errors();

  // and the group's id; it is not waited for before the destructor, so no other process gets it
  const pid_t pid_;
  io::Fd process_;  // a pidfd
  io::Fd errors_fd_;
  std::string errors_;
  bool has_ended_ = false;
};

}  // namespace lockstep::compute::ssh
