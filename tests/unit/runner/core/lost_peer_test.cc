// Last words that are of a broken connection, and who was gone before; and a hang that ends a gang.

#include "runner/core/lost_peer.h"

#include "tests/unit/runner/core/fixture.h"

namespace lockstep::runner {
namespace {

GangTable table() {
  GangTable gang = table_of(4);
  for (std::size_t i = 0; i < gang.members.size(); ++i)
    gang.members[i].address = "10.93.0." + std::to_string(i + 1);
  return gang;
}

int node_in(const std::string& words, int own = 1) {
  const NamedPeer peer = peer_named_in(words, nodes_by_name(table()), own);
  return peer.nodes.size() == 1 ? peer.nodes.front() : -1;
}

TEST(LostPeer, InTheWordsOfLibraries) {
  EXPECT_EQ(node_in("RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection "
                    "closed by peer [10.93.0.4]:33445"),
            3);
  EXPECT_EQ(node_in("Read error [10.93.0.3]:40112: Connection reset by peer"), 2);
  EXPECT_EQ(node_in("n1:812:900 [0] misc/socket.cc:484 NCCL WARN socketProgress: Connection closed "
                    "by remote peer n3.cluster.local<47230>"),
            3);
  EXPECT_EQ(node_in("NCCL WARN Call to connect to 10.93.0.1<41999> failed : Connection refused"),
            0);
  EXPECT_EQ(node_in("[c10d] The client socket has failed to connect to [::ffff:10.93.0.1]:29500 "
                    "(errno: 111 - Connection refused)."),
            0);
  EXPECT_EQ(node_in("UCX  ERROR tcp send failed: Connection reset by remote peer 10.93.0.4:44444"),
            3);
  EXPECT_EQ(node_in("An MPI communication peer process has unexpectedly disconnected.  This\n"
                    "usually indicates a failure in the peer process (e.g., a crash or\n"
                    "otherwise exiting without calling MPI_FINALIZE first).\n\n"
                    "  Local host: n1\n  Local PID:  4711\n  Peer host:  n3\n"),
            3);
}

TEST(LostPeer, IsTheLastOneThatIsNamedAndNotTheRankItself) {
  EXPECT_EQ(node_in("connection refused by 10.93.0.1\nConnection closed by peer [10.93.0.4]"), 3);
  EXPECT_EQ(node_in("[n1:0812] Connection closed by peer [10.93.0.4]"), 3);
  EXPECT_EQ(node_in("Connection closed by peer [10.93.0.2]", 1), -1);
}

TEST(LostPeer, IsNoneOtherwise) {
  for (const char* const words :
       {"", "Traceback: ValueError: bad batch from 10.93.0.4", "Connection closed by peer",
        "Connection closed by peer [192.168.7.7]:22", "  Peer host:  n3\n",
        "Connection closed by peer [10.93.0.44]"})
    EXPECT_EQ(node_in(words), -1) << words;
}

TEST(LostPeer, SeveralNodesOfOneAddressAreAllNamed) {
  GangTable gang = table();
  gang.members[3].address = gang.members[2].address;
  const NamedPeer peer =
      peer_named_in("Connection closed by peer [10.93.0.3]", nodes_by_name(gang), 0);
  EXPECT_EQ(peer.address, "10.93.0.3");
  EXPECT_EQ(peer.nodes, (std::vector<int>{2, 3}));
}

TEST(LostPeer, NodesOfOneNameAreEachThereOnce) {
  constexpr int kMany = 10'000;  // as many as a gang may have
  GangTable gang;
  gang.members.resize(kMany);
  for (GangMember& member : gang.members) member.hostname = member.address = "localhost";
  const NodesByName names = nodes_by_name(gang, gang);
  ASSERT_EQ(names.size(), 1U);
  const std::vector<int>& nodes = names.at("localhost");
  ASSERT_EQ(nodes.size(), static_cast<std::size_t>(kMany));
  for (int node = 0; node < kMany; ++node) ASSERT_EQ(nodes[static_cast<std::size_t>(node)], node);
}

TEST(LostPeer, IsKnownByItsAddressFromBeforeTheProbeToo) {
  GangTable chosen = table();
  chosen.members[3].address = "10.9.0.4";
  const NodesByName names = nodes_by_name(chosen, table());
  for (const char* const address : {"10.9.0.4", "10.93.0.4"}) {
    const NamedPeer peer =
        peer_named_in(std::string("Connection closed by peer [") + address + "]", names, 0);
    EXPECT_EQ(peer.nodes, std::vector<int>{3}) << address;
  }
}

class LostPeerInCore : public RunnerCore {
 protected:
  // Rank 0 of node rank 0 of a gang of two fails with these last words.
  RankExit fails(const std::string& words) {
    give(RankExited{0, 1, 0, false});
    take<TellGang>();
    take_drain();
    give(LogsDrained{});
    EXPECT_EQ(take<ReadStderrTail>().rank, 0);
    give(StderrTail{0, words});
    return take_end().ranks[0];
  }
};

TEST_F(LostPeerInCore, NamesTheRankThatFailedBeforeOnTheOtherNode) {
  run_gang(part(2, 1));
  give(RankExited{0, 1, 0, false});
  take<TellGang>();
  RankExit killed;
  killed.rank = 1;
  killed.cause = Cause::signal;
  killed.signal = SIGKILL;
  killed.time = now;
  take_drain();
  give(AbortFromPeer{{1, killed, told("rank 1 was killed")}});
  give(LogsDrained{});
  take<ReadStderrTail>();
  give(StderrTail{0, "Connection closed by peer [n1]"});
  const RankExit exit = take_end().ranks[0];
  ASSERT_TRUE(exit.lost_peer);
  EXPECT_EQ(exit.lost_peer->address, "n1");
  EXPECT_EQ(exit.lost_peer->node_rank, 1);
  ASSERT_TRUE(exit.lost_peer->end);
  EXPECT_EQ(exit.lost_peer->end->rank, 1);
  EXPECT_EQ(exit.lost_peer->end->signal, SIGKILL);
  EXPECT_FALSE(exit.lost_peer->left);
}

TEST_F(LostPeerInCore, KnowsThatAllRanksOfTheOtherNodeHadLeft) {
  run_gang(part(2, 1));
  give(PeerDone{{1, {}}});
  const RankExit exit = fails("Connection closed by peer [n1]");
  ASSERT_TRUE(exit.lost_peer);
  EXPECT_TRUE(exit.lost_peer->left);
  EXPECT_FALSE(exit.lost_peer->end);
}

TEST_F(LostPeerInCore, SaysNothingOfOtherWords) {
  run_gang(part(2, 1));
  EXPECT_FALSE(fails("ValueError: bad batch").lost_peer);
}

TEST_F(RunnerCore, AHangEndsTheGang) {
  run_gang(part(2, 1));
  Found found;
  found.kind = FoundKind::stopped;
  found.verdict = FoundVerdict::hangs;
  found.ranks.resize(1);
  found.ranks.front().rank = 1;
  give(GangHangs{found});
  const auto abort = std::get<GangAbort>(take<TellGang>().message);
  EXPECT_EQ(abort.first.cause, Cause::hang);
  EXPECT_EQ(abort.why, Why(GangHung{FoundKind::stopped, {1}}));
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(RankExited{0, 0, SIGTERM, false});
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::hang);
  EXPECT_FALSE(report.first_failed_rank);
  EXPECT_EQ(report.hang, found);
  EXPECT_TRUE(report.ranks[0].terminated_by_us);
}

TEST_F(RunnerCore, AHangOfAGangThatEndsChangesNothing) {
  run_gang(part(2, 1));
  give(RankExited{0, 3, 0, false});
  take<TellGang>();
  take_drain();
  give(GangHangs{Found{}});
  give(LogsDrained{});
  take<ReadStderrTail>();
  give(StderrTail{0, ""});
  const auto report = take_end();
  EXPECT_EQ(report.cause, Cause::exit_code);
  EXPECT_FALSE(report.hang);
}

}  // namespace
}  // namespace lockstep::runner
