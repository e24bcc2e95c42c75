#pragma once
// A fork server: a program that is started once, ahead of time, and forked for each new process.
// So the new process's libraries are already linked and initialised. The program that wants
// processes holds a ForkServer; the server program calls serve_forks(), and must have one thread
// and no connections.
//
// Each order has a channel of its own. The new process reports its identity on it, and does nothing
// until it is told to go on. So whichever of the three processes dies at any time, a new process
// that its orderer does not know has done nothing, and ends. New processes outlive both others.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/io/process.h"

namespace lockstep::io {

struct ForkOrder {
  std::vector<std::string> words;  // the new process's command line, also shown in /proc
  std::string log_path;            // the file to which its stdout and stderr are appended
};

class ForkServer {
 public:
  // Starts the server. `start`: a program that calls serve_forks() on its standard input.
  // `longest`: the most bytes that a forked process's command line may take; the server is started
  // with an argument of that many spaces, which the forked process overwrites. `timeout`: how long
  // a new process may take to report its pid; generous, for a machine that swaps.
  static Result<std::unique_ptr<ForkServer>> start(DetachedStart start, std::size_t longest,
                                                   Duration timeout = seconds(30));
  // The server ends when it notices that this end is closed; the processes it forked run on.
  ~ForkServer() = default;
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // Starts a process; from any thread. Returns unavailable if the server has ended or does not
  // answer: then no process of this order runs or will run. Other errors are those of
  // start_detached.
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
  // Runs in a process that was forked ahead, before it receives an order.
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
