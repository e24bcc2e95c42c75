#pragma once
// The process of a lockstep-pmix: a child in a session of its own, with no descriptor of ours but
// its socket and a pipe for its standard error. It becomes the given user by itself. The destructor
// kills it and waits for its end, at most kEndTimeout.

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/file_system.h"

namespace lockstep::pmix {

inline constexpr Duration kEndTimeout = seconds(2);

class Process {
 public:
  Process() = default;  // without a process, for a server that a test plays
  static Result<Process> start(const std::string& path, std::uint32_t uid, std::uint32_t gid,
                               io::Fd socket);
  ~Process() { end(); }
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;

  int pid() const { return pid_; }  // -1: none, or it has ended
  int errors() const { return errors_.get(); }
  // Kills it, if it still runs, and says how it ended: "was killed by signal 11".
  std::string end();

 private:
  int pid_ = -1;  // until it is reaped
  io::Fd pidfd_, errors_;
};

}  // namespace lockstep::pmix
