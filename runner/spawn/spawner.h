#pragma once
// The main object of lockstep-spawn: it takes orders from the socket, forks ranks and
// keepers, reaps them and their orphans, and reports. Single-threaded; it decides nothing.

#include <cstddef>
#include <vector>

#include "runner/spawn/protocol.h"

namespace lockstep::spawn {

class Spawner {
 public:
  explicit Spawner(int socket);
  // Runs until the socket closes or a `quit` message arrives. When it returns, no process that the
  // spawner started is left.
  int run();

 private:
  struct Rank {
    int id = 0;
    int pid = 0;
    int error_fd = -1;  // >= 0 until exec has succeeded or failed
    bool failed = false;
    int keeper_fd = -1;  // >= 0: `pid` is the keeper of a program; it tells us over this pipe
    int program = 0;     // the pid of the kept program, once it was started
    bool is_kept() const { return keeper_fd >= 0; }
  };

  void receive();
  void carry_out(const Header& header, int (&fds)[kMaxFds]);
  void start(int id, int flags, int (&fds)[kMaxFds]);
  void signal_rank(const Rank& rank, int signal_number);
  void signal_ranks(int id, int signal_number);
  void end_kept(int id);
  void kill_each();
  void warn_ranks(int signal_number);
  void finish_start(Rank& rank);
  void reap();
  void pursue_kill();
  void send(Type type, int id, int value, int stage = 0);
  void send(const Header& header);
  bool children_left() const;

  int socket_;
  int child_signals_ = -1;
  bool open_ = true;  // the socket to the runner is open
  bool killing_ = false;
  bool quitting_ = false;
  int kill_rounds_ = 0;
  std::vector<Rank> ranks_;  // the live ranks
};

}  // namespace lockstep::spawn
