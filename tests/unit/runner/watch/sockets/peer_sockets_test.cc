// Which sockets lead to peers, whose they are, and what they have carried.

#include "runner/watch/sockets/peer_sockets.h"

#include <gtest/gtest.h>

namespace lockstep::runner {
namespace {

TcpEnd end(const std::string& address, int port) {
  return {*tcp_address_from(address), static_cast<std::uint16_t>(port)};
}

TcpSocket socket(std::uint32_t inode, const TcpEnd& near, const TcpEnd& far,
                 TcpState state = TcpState::established) {
  TcpSocket made;
  made.inode = inode;
  made.near = near;
  made.far = far;
  made.state = state;
  made.has_info = true;
  return made;
}

const PeerFacts kGang{{"10.0.0.4", "10.0.0.5", "n1.example"}, 6105};

TEST(PeerSockets, PeersAreTheGangsAddressesAndOtherRanksHere) {
  const TcpEnd mpi = end("127.0.0.1", 40001), other = end("127.0.0.1", 40002);
  const SocketTable table(
      {
          socket(1, end("10.0.0.5", 5000), end("10.0.0.4", 5001)),  // a peer on another node
          socket(2, end("10.0.0.5", 5002), end("10.9.9.9", 443)),   // somebody else
          socket(3, end("10.0.0.5", 5003), end("10.0.0.4", 6105)),  // the store
          socket(4, mpi, other),
          socket(5, other, mpi),                                // two ranks of this node
          socket(6, end("127.0.0.1", 1), end("127.0.0.1", 2)),  // a rank and a service here
          socket(7, end("127.0.0.1", 2), end("127.0.0.1", 1)),
          socket(8, end("127.0.0.1", 3), end("127.0.0.1", 4)),  // a rank and itself
          socket(9, end("127.0.0.1", 4), end("127.0.0.1", 3)),
      },
      kGang);
  SocketOwners owners;
  EXPECT_TRUE(owners.wants_look(table));
  for (const int inode : {1, 2, 3, 4, 6, 8, 9}) owners.found(inode, 0);
  owners.found(5, 1);
  owners.settle(table);
  EXPECT_FALSE(owners.wants_look(table)) << "nobody was found to have 7, and that is known";
  EXPECT_EQ(owners.owner(7), SocketOwners::kNobody);
  const auto peers = peers_by_rank(table, owners);
  ASSERT_EQ(peers.size(), 2u);
  ASSERT_EQ(peers.at(0).size(), 2u);
  EXPECT_EQ(peers.at(0)[0]->inode, 1u);
  EXPECT_EQ(peers.at(0)[1]->inode, 4u);
  EXPECT_EQ(peers.at(1)[0]->inode, 5u);
  EXPECT_EQ(ranks_at_store(table, owners), (std::set<int>{0}));
}

// Its own address is not among the gang's: what listens there may be a service of the node.
TEST(PeerSockets, AServiceOfThisNodeAndRasAreNoPeers) {
  const TcpEnd service = end("10.0.0.5", 5432), ras = end("127.0.0.1", 28028);
  const SocketTable table(
      {socket(1, end("10.0.0.5", 5000), service), socket(2, service, end("10.0.0.5", 5000)),
       socket(3, ras, end("127.0.0.1", 5001)), socket(4, end("127.0.0.1", 5001), ras),
       socket(5, end("10.0.0.5", 28028), end("10.0.0.4", 7))},
      {{"10.0.0.4"}, 6105, 28028});
  SocketOwners owners;
  for (const int inode : {1, 3, 5}) owners.found(inode, 0);
  owners.found(4, 1);
  owners.settle(table);
  EXPECT_TRUE(peers_by_rank(table, owners).empty());
}

TEST(PeerSockets, OwnersAreLookedForOnlyWhenSomethingIsNew) {
  SocketOwners owners;
  const TcpSocket one = socket(1, end("10.0.0.5", 5000), end("10.0.0.4", 5001));
  const TcpSocket stranger = socket(2, end("10.0.0.5", 5002), end("10.9.9.9", 443));
  const SocketTable first({one, stranger}, kGang);
  EXPECT_TRUE(owners.wants_look(first));
  owners.found(1, 3);
  owners.settle(first);
  EXPECT_FALSE(owners.wants_look(SocketTable({one}, kGang)));
  EXPECT_FALSE(owners.wants_look(SocketTable({stranger}, kGang))) << "it leads nowhere of ours";
  owners.settle(SocketTable({}, kGang));
  EXPECT_TRUE(owners.wants_look(first)) << "an inode may be used again";
  owners.found(0, 3);
  EXPECT_EQ(owners.owner(0), SocketOwners::kNobody) << "sockets that no process has";
}

TEST(PeerSockets, EachConnectionToThePmixServerClaimsTheRank) {
  const TcpEnd server = end("127.0.0.1", 7000);
  const SocketTable table(
      {socket(1, end("127.0.0.1", 1), server), socket(2, server, end("127.0.0.1", 1)),
       socket(3, end("127.0.0.1", 2), server), socket(4, server, end("127.0.0.1", 2))},
      kGang);
  SocketOwners owners;
  owners.found(1, 5);
  owners.found(3, 5);
  owners.found(2, SocketOwners::kPmixServer);
  owners.found(4, SocketOwners::kPmixServer);
  owners.settle(table);
  EXPECT_EQ(claims_by_rank(table, owners), (std::map<int, int>{{5, 2}}));
  EXPECT_TRUE(peers_by_rank(table, owners).empty()) << "the server is no peer";
}

TEST(PeerCounter, ClosedSocketsGoOnCounting) {
  PeerCounter counter;
  TcpSocket one = socket(1, end("10.0.0.5", 1), end("10.0.0.4", 2));
  one.acked = 100;
  one.received = 50;
  one.unacked = 4;
  one.since_received = seconds(9);
  PeerTotals totals = counter.count({&one});
  EXPECT_TRUE(totals.any_opened);
  EXPECT_EQ(totals.acked, 100);
  EXPECT_EQ(totals.unacked_by, "10.0.0.4");
  EXPECT_EQ(totals.since_received, seconds(9));
  totals = counter.count({&one});
  EXPECT_FALSE(totals.any_opened);
  EXPECT_EQ(totals.most_moved, 0);
  one.received = 51;
  EXPECT_EQ(counter.count({&one}).most_moved, 1);
  totals = counter.count({});
  EXPECT_TRUE(totals.any_opened);
  EXPECT_EQ(totals.sockets, 0);
  EXPECT_EQ(totals.acked, 100);
  EXPECT_EQ(totals.received, 51);
  EXPECT_FALSE(totals.since_received);
}

}  // namespace
}  // namespace lockstep::runner
