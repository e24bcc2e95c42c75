#pragma once
// A program that is started once, ahead of time, and forked whenever one more of its processes is
// wanted: its libraries are linked and initialised then. ForkServer is held by whoever wants
// processes; serve_forks() is called by the program, which must have one thread and no connections.
//
// Each order brings a channel of its own. On it the new process says who it is, and does nothing
// before it is told to go on. So whichever of the three dies, and whenever: a process that its
// orderer does not know has done nothing, and ends. The new processes outlive both others.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/io/process.h"

namespace lockstep::io {

struct ForkOrder {
  std::vector<std::string> words;  // the new process's command line, in /proc as well
  std::string log_path;            // its stdout and stderr, appended
};

class ForkServer {
 public:
  // `start`: a program that calls serve_forks() on its standard input. `longest`: the most bytes
  // that a forked process's command line may take; the server is started with an argument of that
  // many spaces, which the forked process overwrites. `timeout`: how long a new process may take to
  // report its pid; generous, for a machine that swaps.
  static Result<std::unique_ptr<ForkServer>> start(DetachedStart start, std::size_t longest,
                                                   Duration timeout = seconds(30));
  // The server ends when it notices; what it forked does not.
  ~ForkServer() = default;
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // From any thread. unavailable: the server is gone, or silent; nothing of this order runs, and
  // nothing will. Any other error: as of start_detached.
  Result<ProcessIdentity> fork(const ForkOrder& order) const;
  const ProcessIdentity& identity() const { return identity_; }

 private:
  ForkServer(Fd socket, ProcessIdentity identity, Duration timeout)
      : socket_(std::move(socket)), identity_(identity), timeout_(timeout) {}

  Fd socket_;
  ProcessIdentity identity_;
  Duration timeout_;
};

struct ForkHooks {
  // Runs in a new process before its pid is reported. If it fails, the order fails with its error.
  std::function<Status(const ForkOrder&)> prepare;
  // Runs in a process that was forked ahead, before an order for it has come.
  std::function<void()> settle = [] {};
};

// Serves the orders that come over `socket`. One process is forked ahead, so that the next order
// does not wait for a fork. This function returns in each process that got an order, with the words
// of the order; that process has a session of its own, /dev/null as standard input, and the log as
// standard output and standard error. In the server itself it returns nullopt, after the other end
// of the socket was closed and the process forked ahead has ended. `argv`: main's own.
std::optional<std::vector<std::string>> serve_forks(int socket, char** argv,
                                                    const ForkHooks& hooks);

}  // namespace lockstep::io
