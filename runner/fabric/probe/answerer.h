#pragma once
// The listening side of a node in a probe. It listens on a port that the kernel chooses and on the
// ports where ranks will listen, and answers nodes that know the attempt's key. Until the key is
// set, connections wait in the kernel. Its sockets are closed when it is destroyed, so that ranks
// find their ports free.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/io/event_loop.h"
#include "runner/fabric/probe/path_test.h"
#include "runner/fabric/probe/probe_sockets.h"

namespace lockstep::runner {

// The ports where ranks of this node will listen.
struct RankPortPlan {
  std::vector<std::uint16_t> leased = {};  // the ports that this runner leased (io::PortLease)
  bool as_open_mpi = false;                // the first free one from 1024 on, as Open MPI takes it
};

class Answerer {
 public:
  static Result<std::unique_ptr<Answerer>> open(io::EventLoop& loop, int self,
                                                const RankPortPlan& ranks);

  void answer_with(const std::string& key);
  std::uint16_t port() const { return port_of_socket(listeners_.front().get()); }
  std::vector<std::uint16_t> rank_ports() const;

 private:
  struct Incoming {
    io::Fd fd;
    PathAnswer answer;
    bool owes = false;  // the kernel did not take all of our answer yet
  };
  Answerer(io::EventLoop& loop, int self) : self_(self), sockets_(loop, ready()) {}
  SocketSet::Ready ready();
  void accept_all(int listener);
  void serve(std::uint64_t id, Incoming& incoming);

  const int self_;
  std::string key_;
  std::vector<io::Fd> listeners_;  // the first is for tests, the others are ranks' ports
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Incoming> incoming_;
  SocketSet sockets_;
};

inline constexpr std::size_t kMostIncoming = 2'048;

}  // namespace lockstep::runner
