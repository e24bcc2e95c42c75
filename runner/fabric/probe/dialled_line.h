#pragma once
// A connection of the dialling side: its socket, and the test that decides what is sent on it.
// Times are taken where bytes come in, because round trips are measured.

#include <string>

#include "common/io/clock.h"
#include "runner/fabric/probe/path_test.h"
#include "runner/fabric/probe/probe_sockets.h"

namespace lockstep::runner {

class ProbeLine {
 public:
  // Dials at once; it may be over already. `id`: for SocketSet.
  ProbeLine(SocketSet& sockets, io::Clock& clock, std::uint64_t id, const sockaddr_in& to,
            PathTest test);

  void look(std::uint32_t events);  // handles events of the socket
  void expire(Instant now);
  bool is_over() const { return test_.is_over(); }  // the socket is closed then
  const PathTest& test() const { return test_; }
  const std::string& source() const { return source_; }  // our address; "": it has none
  int overhead() const { return overhead_; }             // once it is over: see overhead_of()
  // Whether nothing was dialled, because no descriptor is left.
  bool is_without_socket() const { return is_without_socket_; }

 private:
  void finish_dialling(std::uint32_t events);
  void receive();
  void move();

  SocketSet& sockets_;
  io::Clock& clock_;
  const std::uint64_t id_;
  PathTest test_;
  io::Fd fd_;
  std::string source_;
  int overhead_ = 0;
  bool is_dialling_ = true, waits_to_write_ = true, is_without_socket_ = false;
};

}  // namespace lockstep::runner
