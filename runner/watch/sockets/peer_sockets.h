#pragma once
// Finds the TCP sockets of a node that connect its ranks with their peers, and the bytes that they
// have carried. Peers are ranks on the gang's addresses, and other ranks of this node. Not counted:
// connections to the rendezvous's store, which heartbeats use while a job hangs, to the PMIx
// server, and to the port where RAS answers questions. Pure; the sockets are read by SocketReader,
// and their owners found by OwnerScan's caller.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/watch/sockets/tcp_sockets.h"

namespace lockstep::runner {

struct PeerFacts {
  std::vector<std::string> addresses;  // numeric addresses of the gang's nodes; others are ignored
  std::uint16_t store_port = 0;        // the port MASTER_PORT; 0: none
  std::uint16_t ras_port = 0;          // the port of NCCL's RAS, which we ask ourselves; 0: none
};

// The sockets of one reading.
class SocketTable {
 public:
  SocketTable(TcpSockets sockets, const PeerFacts& facts);

  const TcpSockets& all() const { return sockets_; }
  const TcpSocket* by_inode(std::uint64_t inode) const;  // nullptr: the inode is not a TCP socket
  const TcpSocket* other_end(const TcpSocket& socket) const;  // nullptr: not on this host
  // Whether the socket's addresses and ports may lead to a peer: to an address of the gang, or to
  // another process of this host.
  bool may_be_peer(const TcpSocket& socket) const;
  bool leads_to_gang(const TcpSocket& socket) const;
  // The rendezvous's own: a connection to the store, or the store that listens.
  bool is_store(const TcpSocket& socket) const;

 private:
  TcpSockets sockets_;
  std::set<TcpAddress> addresses_;
  std::uint16_t store_port_ = 0, ras_port_ = 0;
  std::map<std::uint64_t, std::size_t> by_inode_;
  std::map<std::pair<TcpEnd, TcpEnd>, std::size_t> by_ends_;
};

// The owners of sockets, found in the descriptors of the ranks' processes. The descriptors are
// searched only if there are sockets without a known owner that may matter.
class SocketOwners {
 public:
  static constexpr int kNobody = -1;  // a process that is not a rank's
  static constexpr int kPmixServer = -2;

  bool wants_look(const SocketTable& table) const;
  // Tells that a process of `owner` has the socket; called between wants_look() and settle().
  void found(std::uint64_t inode, int owner);
  // Tells that all processes were searched: sockets without an owner belong to none of them.
  // Sockets that are not in the table any more are forgotten.
  void settle(const SocketTable& table);
  int owner(std::uint64_t inode) const;

 private:
  std::map<std::uint64_t, int> owners_;
};

// How much the connections of one rank to its peers have carried.
struct PeerTotals {
  std::int64_t sockets = 0, acked = 0, received = 0;  // bytes; closed sockets are still counted
  std::int64_t unread = 0, unacked = 0, retransmits = 0;
  std::string unacked_by;
  std::optional<Duration> since_received;
  std::int64_t most_moved = 0;  // bytes of the busiest socket, since the last reading
  bool any_opened = false;      // or closed, since the last reading
  bool has_info = false;        // false: nothing but `sockets` and `unread` is known
  friend bool operator==(const PeerTotals&, const PeerTotals&) = default;
};

// Sums one rank's sockets, from reading to reading.
class PeerCounter {
 public:
  PeerTotals count(const std::vector<const TcpSocket*>& sockets);

 private:
  struct Carried {
    std::int64_t acked = 0, received = 0, retransmits = 0;
  };
  void add_closed(const std::map<std::uint64_t, Carried>& now, PeerTotals& totals);

  std::map<std::uint64_t, Carried> last_;  // by inode
  Carried closed_;
};

// The sockets of each rank that lead to peers.
std::map<int, std::vector<const TcpSocket*>> peers_by_rank(const SocketTable& table,
                                                           const SocketOwners& owners);
// The number of connections of each rank to the PMIx server: one for each process that claims it.
std::map<int, int> claims_by_rank(const SocketTable& table, const SocketOwners& owners);
// The ranks that have reached the rendezvous: they are connected to its store, or have it.
std::set<int> ranks_at_store(const SocketTable& table, const SocketOwners& owners);

}  // namespace lockstep::runner
