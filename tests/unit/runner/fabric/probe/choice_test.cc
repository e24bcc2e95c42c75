// Which network a gang uses, by what its nodes met.
#include "runner/fabric/probe/choice.h"

#include <gtest/gtest.h>

#include <functional>
#include <tuple>

namespace lockstep::runner {
namespace {

constexpr std::uint16_t kPort = 40000, kMasterPort = 6105;

// Nodes with equal numbers of candidates; candidate c of each node is on network c, and leads to
// it.
class World {
 public:
  World(int nodes, int networks) {
    for (int node = 0; node < nodes; ++node) {
      ProbedNode& made = nodes_.emplace_back();
      made.host = "h" + std::to_string(node);
      made.address = address(node, 0);
      made.offer.emplace().node_rank = node;
      made.offer->port = kPort;
      for (int c = 0; c < networks; ++c)
        made.offer->candidates.push_back(
            {"eth" + std::to_string(c) + "n" + std::to_string(node), address(node, c), 1500});
      made.findings.emplace().node_rank = node;
    }
    each_path([](PathFinding&) {});
  }
  static std::string address(int node, int network) {
    return "10." + std::to_string(network) + ".0." + std::to_string(node + 1);
  }
  // All pairs, both ways, at all addresses.
  void each_path(const std::function<void(PathFinding&)>& change) {
    for (int from = 0; from < static_cast<int>(nodes_.size()); ++from)
      for (int to = 0; to < static_cast<int>(nodes_.size()); ++to)
        for (int c = 0; from != to && c < networks(); ++c) change(path(from, to, c));
  }
  PathFinding& path(int from, int to, int candidate, std::uint16_t port = kPort) {
    auto& paths = node(from).findings->paths;
    for (PathFinding& each : paths)
      if (each.peer == to && each.candidate == candidate && each.port == port) return each;
    PathFinding& made = paths.emplace_back();
    made.peer = to;
    made.candidate = made.source = candidate;
    made.port = port;
    made.from_address = address(from, candidate);
    made.state = PathState::reached;
    made.round_trip = std::chrono::microseconds(100);
    return made;
  }
  void forget(int from, int to, int candidate) {
    auto& paths = node(from).findings->paths;
    std::erase_if(paths, [&](auto& p) { return p.peer == to && p.candidate == candidate; });
  }
  ProbedNode& node(int rank) { return nodes_[static_cast<std::size_t>(rank)]; }
  ProbeOutcome choose() const { return runner::choose(nodes_); }

 private:
  int networks() const { return static_cast<int>(nodes_[0].offer->candidates.size()); }
  std::vector<ProbedNode> nodes_;
};

void expect_network(const ProbeOutcome& outcome, int network) {
  for (const ChosenPath& path : outcome.result.chosen)
    EXPECT_EQ(path.address, World::address(path.node_rank, network)) << path.node_rank;
}

TEST(ChoiceTest, TheKnownNetworkStaysWhereAllIsWell) {
  World world(4, 2);
  const ProbeOutcome outcome = world.choose();
  expect_network(outcome, 0);
  EXPECT_EQ(outcome.failed_on, -1);
  EXPECT_TRUE(outcome.result.failures.empty());
  EXPECT_EQ(outcome.result.chosen[2].interface, "eth0n2");
  EXPECT_EQ(outcome.result.chosen[2].round_trip, std::chrono::microseconds(100));
  EXPECT_EQ(outcome.result.chosen[2].mtu, 1500);
}

TEST(ChoiceTest, AClearlyFasterNetworkWins) {
  World world(3, 2);
  world.each_path(
      [](PathFinding& path) { path.speed_mbps = path.candidate == 1 ? 20'000 : 9'000; });
  expect_network(world.choose(), 1);
  EXPECT_EQ(world.choose().result.chosen[0].speed_mbps, 20'000);
  world.each_path(
      [](PathFinding& path) { path.speed_mbps = path.candidate == 1 ? 12'000 : 9'000; });
  expect_network(world.choose(), 0);
  world.each_path([](PathFinding& path) {
    if (path.candidate == 1) path.round_trip = std::chrono::microseconds(20);
  });
  expect_network(world.choose(), 1);
}

TEST(ChoiceTest, ANetworkThatLeadsNowhereIsNotUsedAndOnlyNoted) {
  for (const int dead : {0, 1}) {
    World world(4, 2);
    world.each_path([dead](PathFinding& path) {
      if (path.candidate == dead) path.state = PathState::no_route;
    });
    const ProbeOutcome outcome = world.choose();
    expect_network(outcome, 1 - dead);
    EXPECT_EQ(outcome.failed_on, -1);
    ASSERT_EQ(outcome.result.failures.size(), 12U);
    EXPECT_EQ(outcome.result.failures[0].trouble, PathTrouble::no_route);
    EXPECT_EQ(outcome.result.broken, 0);
  }
}

TEST(ChoiceTest, BridgesWithOneAddressOnAllNodesAreNothing) {
  World world(3, 2);
  for (int node = 0; node < 3; ++node) world.node(node).offer->candidates[1].address = "172.17.0.1";
  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to)
      if (from != to) world.forget(from, to, 1);  // one's own address is not dialled
  const ProbeOutcome outcome = world.choose();
  expect_network(outcome, 0);
  EXPECT_TRUE(outcome.result.failures.empty());
}

TEST(ChoiceTest, AnAddressBehindTheDefaultRouteIsNoFailureOfTheNetwork) {
  World world(3, 2);  // candidate 1 is a bridge of each node's own; others try it over candidate 0
  world.each_path([](PathFinding& path) {
    if (path.candidate == 0) return;
    path.source = 0;
    path.state = PathState::timed_out;
  });
  const ProbeOutcome outcome = world.choose();
  expect_network(outcome, 0);
  EXPECT_EQ(outcome.failed_on, -1);
  EXPECT_TRUE(outcome.result.failures.empty());
}

TEST(ChoiceTest, AnAddressThatAnotherMachineHasIsNotUsedAndNotNoted) {
  World world(3, 2);
  world.each_path([](PathFinding& path) {
    if (path.candidate == 0) path.state = PathState::other_host;
  });
  const ProbeOutcome outcome = world.choose();
  expect_network(outcome, 1);
  EXPECT_EQ(outcome.failed_on, -1);
  EXPECT_TRUE(outcome.result.failures.empty());
}

TEST(ChoiceTest, InterfacesOfOneNetworkHaveOtherPlacesOnOtherNodes) {
  World world(2, 2);
  // Candidate 0 of node 0 and candidate 1 of node 1 are one network; the others reach nothing.
  world.each_path([](PathFinding& path) { path.state = PathState::timed_out; });
  for (const auto& [from, to, candidate, source] :
       {std::tuple{0, 1, 1, 0}, std::tuple{1, 0, 0, 1}}) {
    world.path(from, to, candidate).state = PathState::reached;
    world.path(from, to, candidate).source = source;
  }
  const ProbeOutcome outcome = world.choose();
  EXPECT_EQ(outcome.result.chosen[0].address, World::address(0, 0));
  EXPECT_EQ(outcome.result.chosen[1].address, World::address(1, 1));
  EXPECT_EQ(outcome.failed_on, -1);
}

TEST(ChoiceTest, APairThatCannotReachEachOtherIsNamed) {
  World world(4, 2);
  for (const int network : {0, 1}) world.path(1, 2, network).state = PathState::timed_out;
  const ProbeOutcome outcome = world.choose();
  expect_network(outcome, 0);
  EXPECT_EQ(outcome.failed_on, 2);
  const PathFailure& first = outcome.result.failures.at(0);
  EXPECT_EQ(first.from, 1);
  EXPECT_EQ(first.to, 2);
  EXPECT_EQ(first.from_interface, "eth0n1");
  EXPECT_EQ(first.from_address, World::address(1, 0));
  EXPECT_EQ(first.to_address, World::address(2, 0));
  EXPECT_EQ(first.port, 40'000);
  EXPECT_EQ(first.trouble, PathTrouble::timed_out);
  EXPECT_EQ(outcome.result.broken, 1);
}

TEST(ChoiceTest, TheNodeThatMostFailuresHaveInCommonIsToBlame) {
  World world(4, 1);
  for (int other : {0, 1, 2}) world.path(other, 3, 0).state = PathState::large_packets_lost;
  world.path(0, 1, 0).state = PathState::timed_out;
  world.path(0, 3, 0).mtu = 1400;
  const ProbeOutcome outcome = world.choose();
  EXPECT_EQ(outcome.failed_on, 3);
  EXPECT_EQ(outcome.result.failures[0].to, 3);
  EXPECT_EQ(outcome.result.failures[0].mtu, 1400);
  EXPECT_EQ(outcome.result.failures.size(), 4U);
}

TEST(ChoiceTest, OfAPairWithTheFirstNodeTheOtherIsToBlame) {
  World world(2, 1);
  world.path(1, 0, 0).state = PathState::timed_out;
  EXPECT_EQ(world.choose().failed_on, 1);
}

TEST(ChoiceTest, ANetworkOnWhichARankPortIsClosedIsNotUsed) {
  World world(3, 2);
  world.node(0).offer->rank_ports = {kMasterPort};
  for (const int node : {1, 2}) {
    world.path(node, 0, 0, kMasterPort).state = PathState::refused;
    world.path(node, 0, 1, kMasterPort).state = PathState::reached;
  }
  const ProbeOutcome outcome = world.choose();
  expect_network(outcome, 1);
  EXPECT_EQ(outcome.failed_on, -1);
  EXPECT_EQ(outcome.result.failures.at(0).port, kMasterPort);
}

TEST(ChoiceTest, ARankPortThatIsClosedOnAllNetworksIsNamed) {
  World world(3, 1);
  world.node(0).offer->rank_ports = {kMasterPort};
  world.path(1, 0, 0, kMasterPort).state = PathState::timed_out;
  world.path(2, 0, 0, kMasterPort).state = PathState::reached;
  const ProbeOutcome outcome = world.choose();
  EXPECT_EQ(outcome.failed_on, 1);
  EXPECT_EQ(outcome.result.failures.at(0).port, kMasterPort);
}

TEST(ChoiceTest, AFailureIsChosenRatherThanWhatNobodyKnows) {
  World world(2, 2);
  world.path(0, 1, 0).state = PathState::timed_out;
  world.forget(0, 1, 1);
  world.forget(1, 0, 1);
  const ProbeOutcome outcome = world.choose();
  expect_network(outcome, 0);
  EXPECT_EQ(outcome.failed_on, 1);
}

TEST(ChoiceTest, ANodeThatSaysNothingKeepsItsAddress) {
  World world(3, 2);
  world.each_path([](PathFinding& path) { path.speed_mbps = path.candidate == 1 ? 20'000 : 900; });
  world.node(2).offer.reset();
  world.node(2).findings.reset();
  world.node(2).address = "192.0.2.7";
  const ProbeOutcome outcome = world.choose();
  EXPECT_EQ(outcome.result.chosen[0].address, World::address(0, 1));
  EXPECT_EQ(outcome.result.chosen[2].address, "192.0.2.7");
  EXPECT_EQ(outcome.result.chosen[2].interface, "");
  EXPECT_EQ(outcome.failed_on, -1);
}

TEST(ChoiceTest, ANameIsKeptWhereNothingElseIsReached) {
  World world(3, 1);
  world.node(2).address = "n2.example.org";
  for (const int other : {0, 1}) world.path(other, 2, 0).state = PathState::timed_out;
  const ProbeOutcome outcome = world.choose();
  EXPECT_EQ(outcome.result.chosen[2].address, "n2.example.org");
  EXPECT_EQ(outcome.failed_on, -1);
  for (const int other : {0, 1}) world.path(other, 2, 0).state = PathState::reached;
  EXPECT_EQ(world.choose().result.chosen[2].address, World::address(2, 0));
}

TEST(ChoiceTest, AnAddressThatIsPassedOnIsReachedFromOthersOfTheNode) {
  World world(2, 2);  // candidate 0: the address that others know; 1: the node's own
  world.each_path([](PathFinding& path) {
    path.source = 1;
    if (path.candidate == 1) path.state = PathState::timed_out;
  });
  const ProbeOutcome outcome = world.choose();
  expect_network(outcome, 0);
  EXPECT_EQ(outcome.failed_on, -1);
  world.each_path([](PathFinding& path) { path.state = PathState::reached; });
  expect_network(world.choose(), 1);
}

TEST(ChoiceTest, NobodyOffersAnything) {
  World world(2, 1);
  for (const int node : {0, 1}) world.node(node).offer.reset();
  const ProbeOutcome outcome = world.choose();
  EXPECT_EQ(outcome.result.chosen.size(), 2U);
  expect_network(outcome, 0);
  EXPECT_EQ(outcome.failed_on, -1);
}

TEST(ChoiceTest, NoNumberOfANodeLeadsAstray) {
  World world(2, 1);
  using Numbers = std::pair<int, int>;
  for (const auto& [peer, candidate] :
       std::vector<Numbers>{{7, 0}, {-1, 0}, {0, 0}, {1, 5}, {1, -1}}) {
    PathFinding wrong;
    wrong.peer = peer;
    wrong.candidate = candidate;
    wrong.port = kPort;
    world.node(0).findings->paths.push_back(wrong);
  }
  EXPECT_EQ(world.choose().failed_on, -1);
}

TEST(ChoiceTest, FailuresAreBounded) {
  World world(20, 2);
  world.each_path([](PathFinding& path) { path.state = PathState::timed_out; });
  const ProbeOutcome outcome = world.choose();
  EXPECT_EQ(outcome.result.failures.size(), kMaxPathFailures);
  EXPECT_GE(outcome.failed_on, 0);
}

TEST(ChoiceTest, LargeGangsAreChosenInTheirRings) {
  World world(2, 2);  // its helpers make all pairs; here each node knows its neighbours alone
  std::vector<ProbedNode> ring;
  constexpr int kNodes = 3'000;
  for (int node = 0; node < kNodes; ++node) {
    ProbedNode made = world.node(0);
    made.offer->node_rank = node;
    made.findings->paths.clear();
    for (const int step : {1, kNodes - 1})
      for (const int candidate : {0, 1}) {
        PathFinding path = world.path(0, 1, candidate);
        path.peer = (node + step) % kNodes;
        path.state = candidate == 0 ? PathState::timed_out : PathState::reached;
        made.findings->paths.push_back(path);
      }
    ring.push_back(made);
  }
  const ProbeOutcome outcome = choose(ring);
  EXPECT_EQ(outcome.failed_on, -1);
  for (const ChosenPath& path : outcome.result.chosen) EXPECT_EQ(path.interface, "eth1n0");
}

}  // namespace
}  // namespace lockstep::runner
