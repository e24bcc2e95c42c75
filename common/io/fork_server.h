#pragma once
// Starts a program once, ahead of time, and forks it for each process that is needed, so that its
// libraries are already loaded and initialised. The caller holds a ForkServer; the program calls
// serve_forks() while it has one thread and no connections.
//
// Each order has its own channel, on which the new process reports its pid and then waits for
// permission to go on. Whichever of the three dies, and whenever: a process whose pid did not reach
// the caller has done nothing, and ends. The new processes outlive the caller and the server.

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
  // The server ends when it notices that the socket is closed; its forked processes go on.
  ~ForkServer() = default;
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // From any thread. unavailable: the server has died or does not answer, and no process was or
  // will be started for this order. Other errors: see start_detached.
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
