// Whole gangs of links in one process and one thread, over loopback with CURVE.

#include "runner/gang/gang_link.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <list>
#include <thread>

#include "common/domain/why/ranks/parts.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"

namespace lockstep::runner {
namespace {

constexpr auto kTimeout = seconds(30);
constexpr auto kRefusalWatch = milliseconds(400);  // how long nothing must happen

struct Node {
  std::unique_ptr<GangLink> link;
  bool connected = false;
  std::vector<int> lost;
  std::vector<std::pair<int, GangMessage>> received;
  std::vector<Why> refused;  // tables
};

class GangLinkTest : public testing::Test {
 protected:
  Node& add() {
    nodes_.push_back(std::make_unique<Node>());
    Node* node = nodes_.back().get();
    auto link = GangLink::create(loop_, {[node] { node->connected = true; },
                                         [node](int from, GangMessage m) {
                                           node->received.emplace_back(from, std::move(m));
                                         },
                                         [node](int lost) { node->lost.push_back(lost); },
                                         [node](const Why& why) { node->refused.push_back(why); }});
    EXPECT_TRUE(link) << link.error().message;
    node->link = std::move(*link);
    return *node;
  }
  void add(int count) {
    for (int i = 0; i < count; ++i) add();
  }
  GangTable table() const {
    GangTable table;
    for (const auto& node : nodes_) {
      GangMember member;
      member.address = "127.0.0.1";
      member.runner_port = node->link->port();
      member.runner_key = node->link->public_key();
      table.members.push_back(member);
    }
    return table;
  }
  void connect_all() {
    const GangTable gang = table();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i]->link->connect(attempt_, static_cast<int>(i), gang, {});
    }
    ASSERT_TRUE(until([this] { return all_connected(); }));
  }
  // The root has the whole table, the others their shares.
  void connect_by_shares(int radix) {
    const GangTable gang = table();
    for (std::size_t i = 0; i < nodes_.size(); ++i) connect_share(static_cast<int>(i), gang, radix);
  }
  void connect_share(int i, const GangTable& gang, int radix) {
    node(i).link->connect(attempt_, i, i == 0 ? SharedGang(gang) : SharedGang(),
                          share_of(gang, i, radix, digest_of(attempt_, gang)));
  }
  bool all_connected() const {
    for (const auto& node : nodes_) {
      if (!node->connected) return false;
    }
    return true;
  }
  template <typename F>
  bool until(F done, Duration timeout = kTimeout) {
    const Instant end = clock_.now() + timeout;
    while (!done()) {
      const Duration left = end - clock_.now();
      if (left <= Duration::zero()) return false;
      loop_.turn(std::min<Duration>(left, milliseconds(50)));
    }
    return true;
  }
  Node& node(int i) { return *nodes_[static_cast<std::size_t>(i)]; }

  const AttemptId attempt_{JobId("job"), 1};
  io::SystemClock clock_;
  io::EventLoop loop_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

// Node 0 of a gang of two, in a thread of its own: what it does once it is settled is `then`.
class FarRoot {
 public:
  FarRoot(const AttemptId& attempt,
          std::function<void(io::EventLoop&, std::unique_ptr<GangLink>)> then)
      : thread_([this, attempt, then = std::move(then)] {
          io::EventLoop loop;
          bool connected = false;
          auto link = *GangLink::create(loop, {[&] { connected = true; }, {}, {}});
          GangMember self;
          self.address = "127.0.0.1";
          self.runner_port = link->port();
          self.runner_key = link->public_key();
          self_.set_value(self);
          link->connect(attempt, 0, table_.get_future().get(), {});
          while (!connected || !link->settled()) loop.turn(milliseconds(50));
          then(loop, std::move(link));
        }) {}
  ~FarRoot() { thread_.join(); }

  // The gang: it, and then `others`.
  GangTable with(GangTable others) {
    others.members.insert(others.members.begin(), self_.get_future().get());
    table_.set_value(others);
    return others;
  }

 private:
  std::promise<GangMember> self_;
  std::promise<GangTable> table_;
  std::thread thread_;
};

ModexRequest numbered(int number) { return {static_cast<std::uint64_t>(number), 0, 0, 0}; }
std::uint64_t number_of(const GangMessage& m) { return std::get<ModexRequest>(m).id; }

TEST_F(GangLinkTest, AGangOfOneIsConnectedAtOnce) {
  add(1);
  connect_all();
  EXPECT_EQ(node(0).link->parent(), -1);
  node(0).link->send_up(numbered(1));
  node(0).link->send_down(numbered(1));
  node(0).link->broadcast(numbered(1));
  node(0).link->send_to(0, numbered(5));  // to oneself: through the loop
  ASSERT_TRUE(until([&] { return !node(0).received.empty(); }));
  EXPECT_EQ(node(0).received.size(), 1u);
}

TEST_F(GangLinkTest, TwoTalkBothWaysInOrder) {
  add(2);
  connect_all();
  EXPECT_EQ(node(1).link->parent(), 0);
  EXPECT_EQ(node(0).link->children(), std::vector<int>{1});
  for (int i = 0; i < 500; ++i) {
    node(1).link->send_up(numbered(i));
    node(0).link->send_down(numbered(i));
  }
  ASSERT_TRUE(
      until([&] { return node(0).received.size() == 500 && node(1).received.size() == 500; }));
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(number_of(node(0).received[static_cast<std::size_t>(i)].second), unsigned(i));
    EXPECT_EQ(number_of(node(1).received[static_cast<std::size_t>(i)].second), unsigned(i));
  }
}

TEST_F(GangLinkTest, ThreeRouteBetweenSiblings) {
  add(3);
  connect_all();
  node(1).link->send_to(2, numbered(12));
  node(2).link->send_to(1, numbered(21));
  node(1).link->broadcast(numbered(99));
  ASSERT_TRUE(until([&] {
    return node(2).received.size() == 2 && node(1).received.size() == 1 &&
           node(0).received.size() == 1;
  }));
  EXPECT_EQ(node(2).received[0].first, 1);
  EXPECT_EQ(number_of(node(2).received[0].second), 12u);
  EXPECT_EQ(number_of(node(1).received[0].second), 21u);
  EXPECT_EQ(number_of(node(2).received[1].second), 99u);
  EXPECT_EQ(number_of(node(0).received[0].second), 99u);
}

TEST_F(GangLinkTest, FortyMakeATreeOfTwoLevels) {
  add(40);
  connect_all();
  EXPECT_EQ(node(39).link->parent(), 1);
  EXPECT_EQ(node(0).link->children().size(), 32u);
  node(39).link->send_to(32, numbered(1));  // two levels up, one down
  node(38).link->broadcast(numbered(2));
  ASSERT_TRUE(until([&] {
    for (int i = 0; i < 40; ++i) {
      const std::size_t expected = (i == 38 ? 0u : 1u) + (i == 32 ? 1u : 0u);
      if (node(i).received.size() != expected) return false;
    }
    return true;
  }));
  EXPECT_TRUE(node(38).lost.empty());
}

TEST_F(GangLinkTest, AllKnowWhatTheOldestRunnerKnows) {
  add(40);
  connect_all();
  for (int i = 0; i < 40; ++i) EXPECT_EQ(node(i).link->knows(), kGangKnows) << i;
}

TEST_F(GangLinkTest, NobodyStartsBeforeTheLateJoiner) {
  add(3);
  const GangTable gang = table();
  node(1).link->connect(attempt_, 1, gang, {});  // children dial before the parent has its table
  node(2).link->connect(attempt_, 2, gang, {});
  EXPECT_FALSE(until([&] { return node(1).connected; }, kRefusalWatch));
  node(0).link->connect(attempt_, 0, gang, {});
  ASSERT_TRUE(until([&] { return all_connected(); }));
}

TEST_F(GangLinkTest, ALateChildIsWaitedFor) {
  add(3);
  const GangTable gang = table();
  node(0).link->connect(attempt_, 0, gang, {});
  node(1).link->connect(attempt_, 1, gang, {});
  EXPECT_FALSE(until([&] { return node(0).connected || node(1).connected; }, kRefusalWatch));
  node(2).link->connect(attempt_, 2, gang, {});
  ASSERT_TRUE(until([&] { return all_connected(); }));
}

TEST_F(GangLinkTest, AWrongKeyStaysOutside) {
  add(2);
  const GangTable gang = table();
  Node& impostor = add();
  node(0).link->connect(attempt_, 0, gang, {});
  impostor.link->connect(attempt_, 1, gang, {});
  impostor.link->send_up(numbered(666));
  EXPECT_FALSE(
      until([&] { return node(0).connected || !node(0).received.empty(); }, kRefusalWatch));
  node(1).link->connect(attempt_, 1, gang, {});
  ASSERT_TRUE(until([&] { return node(0).connected && node(1).connected; }));
  EXPECT_FALSE(impostor.connected);
  EXPECT_TRUE(node(0).received.empty());
}

TEST_F(GangLinkTest, AnotherAttemptIsRefused) {
  add(2);
  const GangTable gang = table();
  node(0).link->connect(attempt_, 0, gang, {});
  node(1).link->connect(AttemptId{JobId("job"), 2}, 1, gang, {});
  EXPECT_FALSE(until([&] { return node(0).connected; }, kRefusalWatch));
}

TEST_F(GangLinkTest, ASilentNeighbourIsLostOnce) {
  add(3);
  connect_all();
  nodes_[1].reset(new Node);  // the link is gone, without a word
  ASSERT_TRUE(until([&] { return !node(0).lost.empty(); }));
  EXPECT_EQ(node(0).lost, std::vector<int>{1});
  EXPECT_TRUE(node(2).lost.empty());
  EXPECT_FALSE(until([&] { return node(0).lost.size() > 1; }, milliseconds(1500)));
}

TEST_F(GangLinkTest, ATableGoesDownTheTreeBeforeTheStart) {
  add(8);
  connect_by_shares(2);  // three levels below the root
  ASSERT_TRUE(until([&] { return all_connected(); }));
  for (const auto& one : nodes_) {
    ASSERT_TRUE(one->link->table());
    EXPECT_EQ(*one->link->table(), table());
    EXPECT_EQ(one->link->radix(), 2);
    EXPECT_TRUE(one->refused.empty());
    EXPECT_TRUE(one->received.empty()) << "rows are not for the runner";
  }
  node(7).link->send_to(6, numbered(1));
  ASSERT_TRUE(until([&] { return !node(6).received.empty(); }));
}

// One whose agent was given the whole table, beside others that were not.
TEST_F(GangLinkTest, AWholeTableServesChildrenThatHaveOnlyAShare) {
  add(3);
  const GangTable gang = table();
  node(0).link->connect(attempt_, 0, gang, {});
  node(1).link->connect(attempt_, 1, gang, {});
  connect_share(2, gang, kGangTreeRadix);
  ASSERT_TRUE(until([&] { return all_connected(); }));
  EXPECT_EQ(*node(2).link->table(), gang);
}

TEST_F(GangLinkTest, AChildThatComesLateGetsTheTableToo) {
  add(4);
  const GangTable gang = table();
  for (int i : {3, 1, 0}) connect_share(i, gang, 2);
  EXPECT_FALSE(until([&] { return node(0).connected || node(3).connected; }, kRefusalWatch));
  connect_share(2, gang, 2);
  ASSERT_TRUE(until([&] { return all_connected(); }));
  EXPECT_EQ(*node(3).link->table(), gang);
}

TEST_F(GangLinkTest, ATableThatIsNotTheLaunchersIsRefusedByWhoGetsIt) {
  add(4);
  const GangTable gang = table();
  GangTable forged = gang;
  forged.members[3].address = "10.6.6.6";
  for (int i = 0; i < 4; ++i) {
    const SharedGang whole = i == 0 ? SharedGang(forged) : SharedGang();
    node(i).link->connect(attempt_, i, whole, share_of(gang, i, 1, digest_of(attempt_, gang)));
  }
  ASSERT_TRUE(until([&] { return !node(1).refused.empty(); }));
  EXPECT_EQ(node(1).refused.front(), Why(GangTableRefused{0, TableFault::altered, "", 0, 0, 4}));
  EXPECT_FALSE(until([&] { return node(0).connected || node(1).connected; }, kRefusalWatch));
  EXPECT_EQ(node(1).refused.size(), 1U);
  EXPECT_TRUE(node(2).refused.empty()) << "it got nothing";
}

// What node 2 says to the others comes to them over their parent, but is no order of the parent's.
TEST_F(GangLinkTest, WhatIsNotOfAParentIsNoOrderOfIts) {
  add(4);
  const GangTable gang = table();
  for (int i = 0; i < 3; ++i) node(i).link->connect(attempt_, i, gang, {});
  node(2).link->send_to(1, GangStart{});
  node(2).link->broadcast(GangStart{});
  GangRows rows;
  rows.attempt = attempt_;
  rows.rows = gang.members;
  node(2).link->broadcast(rows);
  EXPECT_FALSE(until([&] { return node(0).connected || node(1).connected; }, kRefusalWatch));
  node(3).link->connect(attempt_, 3, gang, {});
  ASSERT_TRUE(until([&] { return all_connected(); }));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(node(i).received.empty()) << i;
}

// The root has a loop and a thread of its own, as in life: it leaves while the others still listen.
TEST_F(GangLinkTest, WhatWasSaidLastArrivesAlthoughTheSpeakerLeaves) {
  std::promise<void> neighbour_is_away, settled;
  std::atomic<bool> looked_for_long = false;
  FarRoot speaker(attempt_, [&](io::EventLoop& loop, std::unique_ptr<GangLink> link) {
    neighbour_is_away.get_future().wait();
    link->send_down(GangNodeDone{0});
    io::SystemClock clock;
    const Instant said = clock.now();
    while (!link->settled()) {
      loop.turn(milliseconds(5));
      looked_for_long = clock.now() - said > kFlushTimeout * 2;
    }
    settled.set_value();
  });
  add(1);
  node(0).link->connect(attempt_, 1, speaker.with(table()), {});
  EXPECT_TRUE(until([&] { return node(0).connected; }));
  // It neither reads nor acknowledges from now on, for longer than a leaver waits.
  neighbour_is_away.set_value();
  while (!looked_for_long) std::this_thread::yield();
  auto done = settled.get_future();
  EXPECT_EQ(done.wait_for(seconds(0)), std::future_status::timeout);
  EXPECT_TRUE(until([&] { return done.wait_for(seconds(0)) == std::future_status::ready; }));
  EXPECT_FALSE(node(0).received.empty());
}

TEST_F(GangLinkTest, NobodyWaitsForANeighbourThatSaidItLeaves) {
  add(2);
  connect_all();
  ASSERT_TRUE(until([&] { return node(0).link->settled() && node(1).link->settled(); }));
  nodes_[1].reset(new Node);
  ASSERT_TRUE(until([&] { return !node(0).lost.empty(); }));  // the bye was read long before
  node(0).link->send_down(numbered(1));
  EXPECT_TRUE(node(0).link->settled());
}

// A runner that closed its connection right after its bye could take the bye along: the other node
// waited out kSettleSilence.
TEST_F(GangLinkTest, WhoLeavesStaysUntilItsByeIsHeard) {
  std::promise<void> go, left;
  FarRoot leaver(attempt_, [&](io::EventLoop&, std::unique_ptr<GangLink> link) {
    go.get_future().wait();
    link.reset();
    left.set_value();
  });
  add(1);
  node(0).link->connect(attempt_, 1, leaver.with(table()), {});
  EXPECT_TRUE(until([&] { return node(0).connected; }));
  node(0).link->send_up(numbered(1));  // what the leaver may not have read when it closes
  go.set_value();
  auto gone = left.get_future();
  EXPECT_EQ(gone.wait_for(kFlushTimeout / 5), std::future_status::timeout);
  EXPECT_TRUE(until([&] { return gone.wait_for(seconds(0)) == std::future_status::ready; }));
  EXPECT_TRUE(node(0).link->settled());
}

TEST_F(GangLinkTest, BigFencesPass) {
  add(2);
  connect_all();
  const std::string blob(48u << 20, 'b');
  node(1).link->send_up(FencePart{"fence|*", 1, {{1, blob}}});
  ASSERT_TRUE(until([&] { return !node(0).received.empty(); }));
  EXPECT_EQ(std::get<FencePart>(node(0).received[0].second).blobs.at(1), blob);
}

// Carries TCP between a child and its parent, and can cut all connections.
class Proxy {
 public:
  Proxy(io::EventLoop& loop, std::uint16_t upstream) : loop_(loop), upstream_(upstream) {
    listener_ = io::Fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.get(), 16), 0);
    socklen_t size = sizeof address;
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    loop_.watch(listener_.get(), io::EventLoop::Interest::read, [this] { accept_one(); });
  }
  ~Proxy() {
    cut();
    loop_.unwatch(listener_.get(), io::EventLoop::Interest::read);
  }
  void cut() {
    for (auto& pair : pairs_) {
      for (io::Fd* fd : {&pair.first, &pair.second}) {
        loop_.unwatch(fd->get(), io::EventLoop::Interest::read);
      }
    }
    pairs_.clear();
  }
  std::uint16_t port = 0;
  int accepted = 0;

 private:
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }
  void accept_one() {
    io::Fd near(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    io::Fd far(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(upstream_);
    if (connect(far.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
    ++accepted;
    pairs_.emplace_back(std::move(near), std::move(far));
    pump(pairs_.back().first.get(), pairs_.back().second.get());
    pump(pairs_.back().second.get(), pairs_.back().first.get());
  }
  void pump(int from, int to) {
    loop_.watch(from, io::EventLoop::Interest::read, [this, from, to] {
      char buffer[4096];
      const ssize_t n = read(from, buffer, sizeof buffer);
      if (n <= 0) {
        loop_.unwatch(from, io::EventLoop::Interest::read);
        shutdown(to, SHUT_WR);
        return;
      }
      [[maybe_unused]] const ssize_t sent =
          send(to, buffer, static_cast<std::size_t>(n), MSG_NOSIGNAL);
    });
  }
  io::EventLoop& loop_;
  std::uint16_t upstream_;
  io::Fd listener_;
  std::list<std::pair<io::Fd, io::Fd>> pairs_;
};

TEST_F(GangLinkTest, BrokenConnectionsLoseAndDoubleNothing) {
  add(2);
  Proxy proxy(loop_, node(0).link->port());
  GangTable gang = table();
  gang.members[0].runner_port = proxy.port;
  node(0).link->connect(attempt_, 0, gang, {});
  node(1).link->connect(attempt_, 1, gang, {});
  ASSERT_TRUE(until([&] { return all_connected(); }));
  const int rounds = 5, per_round = 40;
  for (int round = 0; round < rounds; ++round) {
    const int before = proxy.accepted;
    for (int i = 0; i < per_round; ++i) {
      node(1).link->send_up(numbered(round * per_round + i));
      node(0).link->send_down(numbered(round * per_round + i));
      if (i == per_round / 2) loop_.turn(milliseconds(1));
    }
    proxy.cut();
    ASSERT_TRUE(until([&] { return proxy.accepted > before; }));
  }
  const std::size_t all = rounds * per_round;
  ASSERT_TRUE(until([&] {
    return node(0).received.size() >= all && node(1).received.size() >= all;
  })) << node(0).received.size()
      << " and " << node(1).received.size();
  for (int side : {0, 1}) {
    ASSERT_EQ(node(side).received.size(), all);
    for (std::size_t i = 0; i < all; ++i) EXPECT_EQ(number_of(node(side).received[i].second), i);
  }
  EXPECT_TRUE(node(0).lost.empty());
  EXPECT_TRUE(node(1).lost.empty());
}

}  // namespace
}  // namespace lockstep::runner
