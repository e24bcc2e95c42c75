#pragma once
// Serves PMI-1 to the ranks of one node, each over its own pair of Unix sockets. It owns the
// runner's ends. It never blocks: a rank that does not read its answers is not read either, and one
// that breaks the protocol loses its connection. Everything happens on the loop's thread.

#include <deque>
#include <map>
#include <string>

#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "runner/bootstrap/pmi1_protocol.h"

namespace lockstep::runner {

inline constexpr std::size_t kMaxPmi1Line = 8192;  // MPICH's own buffers have 1,024 bytes

class Pmi1Server {
 public:
  struct Events {
    std::function<void(int rank)> connected, finalized;
    std::function<void(int rank, int code, std::string message)> aborted;
    std::function<void(int rank, std::string what)> refused;
    std::function<void(std::string new_keys)> barrier;  // the same event as in Pmi1Protocol::Events
  };

  Pmi1Server(io::EventLoop& loop, const Pmi1Protocol::Job& job, Events events);
  ~Pmi1Server();
  Pmi1Server(const Pmi1Server&) = delete;
  Pmi1Server& operator=(const Pmi1Server&) = delete;

  // Opens a rank's end of its connection, once for each rank. Close ours by closing all of its
  // copies.
  Result<io::Fd> connect(int rank);
  void end_barrier(std::string_view new_keys_of_all_nodes);
  void close_all();

 private:
  struct Connection {
    io::Fd fd;
    std::string in, out;
  };
  Pmi1Protocol::Events protocol_events(Events events);
  void read(int rank);
  void answer(int rank, const std::string& line);
  void send(int rank);
  void advance(int rank);
  bool take_line(int rank);
  void watch(int rank);
  void close(int rank);

  io::EventLoop& loop_;
  Pmi1Protocol protocol_;
  std::map<int, Connection> connections_;  // the connections by rank
  std::deque<int> due_;                    // ranks whose lines are to be looked at
  bool is_advancing_ = false;
};

}  // namespace lockstep::runner
