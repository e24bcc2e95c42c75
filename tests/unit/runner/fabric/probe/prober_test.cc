// Real sockets on loopback: a node dials others, which answer, refuse, hang or are somebody else.
#include "runner/fabric/probe/prober.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>

#include "runner/fabric/probe/answerer.h"
#include "runner/fabric/probe/parent_check.h"

namespace lockstep::runner {
namespace {

const std::string kKey(kProbeKeyBytes, 'k');
constexpr Duration kTestTimeout = seconds(30);

class ProberTest : public ::testing::Test {
 protected:
  std::unique_ptr<Answerer> answer(int node, const std::string& key = kKey,
                                   RankPortPlan ranks = {}) {
    auto made = Answerer::open(loop_, node, ranks);
    EXPECT_TRUE(made) << made.error().message;
    if (!key.empty()) (*made)->answer_with(key);
    return *std::move(made);
  }
  static ProbePeer peer(int node, const Answerer& answerer,
                        const std::string& address = "127.0.0.1") {
    ProbePeer peer;
    peer.offer.node_rank = node;
    peer.offer.candidates = {{"lo", address, 1500}};
    peer.offer.port = answerer.port();
    peer.offer.rank_ports = answerer.rank_ports();
    return peer;
  }
  ProberFacts facts() { return {1, kKey, {{"lo", "127.0.0.1", 65'536}}, {}}; }
  std::vector<PathFinding> dial(const std::vector<ProbePeer>& peers, ProberFacts facts) {
    std::optional<std::vector<PathFinding>> found;
    Prober prober(loop_, clock_, std::move(facts), [&](auto paths) { found = std::move(paths); });
    prober.begin(peers);
    const Instant begun = clock_.now();
    while (!found && clock_.now() - begun < kTestTimeout) {
      loop_.turn(std::clamp<Duration>(prober.next_deadline() - clock_.now(), Duration(0),
                                      milliseconds(50)));
      prober.expire(clock_.now());
    }
    took_ = clock_.now() - begun;
    EXPECT_TRUE(found);
    EXPECT_EQ(prober.next_deadline(), Instant::never());
    return found.value_or(std::vector<PathFinding>{});
  }
  // A socket that listens and never answers.
  static io::Fd mute() { return *listen_on(0, false); }

  io::EventLoop loop_;
  io::SystemClock clock_;
  Duration took_{0};
};

TEST_F(ProberTest, APeerIsReached) {
  const auto other = answer(2);
  ProberFacts mine = facts();
  mine.addresses["127.0.0.1"] = "lo";
  ProbePeer two = peer(2, *other, "127.0.0.2");
  two.burst = true;
  const auto paths = dial({two}, mine);
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0].state, PathState::reached);
  EXPECT_EQ(paths[0].peer, 2);
  EXPECT_EQ(paths[0].port, other->port());
  EXPECT_EQ(paths[0].from_address, "127.0.0.1");
  EXPECT_EQ(paths[0].source, 0);
  EXPECT_GT(paths[0].round_trip, Duration(0));
  EXPECT_GT(paths[0].speed_mbps, 0);
  EXPECT_LT(took_, seconds(2));
}

TEST_F(ProberTest, ManyPeersAtOnce) {
  std::vector<std::unique_ptr<Answerer>> others;
  std::vector<ProbePeer> peers;
  for (int node = 2; node < 33; ++node) {
    others.push_back(answer(node));
    peers.push_back(peer(node, *others.back()));
  }
  const auto paths = dial(peers, facts());
  EXPECT_EQ(paths.size(), 31U);
  for (const PathFinding& path : paths) EXPECT_EQ(path.state, PathState::reached);
}

TEST_F(ProberTest, OurOwnAddressIsNotDialled) {
  const auto other = answer(2);
  ProberFacts mine = facts();
  mine.addresses["127.0.0.1"] = "lo";
  EXPECT_TRUE(dial({peer(2, *other)}, mine).empty());
}

TEST_F(ProberTest, WhoIsNotThePeerIsTold) {
  const auto wrong_node = answer(3);
  const auto wrong_key = answer(4, std::string(kProbeKeyBytes, 'x'));
  ProbePeer refused = peer(5, *wrong_node);
  {
    const io::Fd closed = mute();
    refused.offer.port = port_of_socket(closed.get());
  }
  const auto paths = dial({peer(2, *wrong_node), peer(4, *wrong_key), refused}, facts());
  ASSERT_EQ(paths.size(), 3U);
  for (const PathFinding& path : paths)
    EXPECT_EQ(path.state, path.peer == 5 ? PathState::refused : PathState::other_host) << path.peer;
}

TEST_F(ProberTest, PortsOfRanksAreKnockedAt) {
  RankPortPlan ranks;
  ranks.as_open_mpi = true;
  const auto other = answer(2, kKey, ranks);
  ASSERT_EQ(other->rank_ports().size(), 1U);
  EXPECT_GE(other->rank_ports()[0], 1'024);
  ProbePeer two = peer(2, *other);
  EXPECT_EQ(dial({two}, facts()).size(), 2U);
  two.tested = false;
  const auto knocked = dial({two}, facts());
  ASSERT_EQ(knocked.size(), 1U);
  EXPECT_EQ(knocked[0].port, other->rank_ports()[0]);
  EXPECT_EQ(knocked[0].state, PathState::reached);
}

TEST_F(ProberTest, EachAddressOfAPeerIsDialled) {
  const auto other = answer(2);
  ProbePeer two = peer(2, *other);
  two.offer.candidates.push_back({"lo", "127.0.0.2", 1500});
  const auto paths = dial({two}, facts());
  ASSERT_EQ(paths.size(), 2U);
  for (const PathFinding& path : paths) EXPECT_EQ(path.state, PathState::reached);
}

TEST_F(ProberTest, WhoListensAndSaysNothingIsGivenUp) {
  const auto other = answer(2);
  const auto silent = answer(3, "");  // its kernel takes connections; it has no key yet
  const auto paths = dial({peer(2, *other), peer(3, *silent)}, facts());
  ASSERT_EQ(paths.size(), 2U);
  for (const PathFinding& path : paths)
    EXPECT_EQ(path.state, path.peer == 2 ? PathState::reached : PathState::timed_out);
  EXPECT_GE(took_, kAnswerWithin);
  EXPECT_LT(took_, kPathsWithin + seconds(2));
}

TEST_F(ProberTest, WhoGetsItsKeyLateAnswersThen) {
  const auto late = answer(2, "");
  std::optional<std::vector<PathFinding>> found;
  Prober prober(loop_, clock_, facts(), [&](auto paths) { found = std::move(paths); });
  prober.begin({peer(2, *late)});
  for (int i = 0; i < 5; ++i) loop_.turn(milliseconds(5));
  EXPECT_FALSE(found);
  late->answer_with(kKey);
  const Instant until = clock_.now() + kTestTimeout;
  while (!found && clock_.now() < until) loop_.turn(milliseconds(5));
  ASSERT_TRUE(found && found->size() == 1);
  EXPECT_EQ(found->front().state, PathState::reached);
}

TEST_F(ProberTest, UnroutableAddressesAreTold) {
  const auto other = answer(2);
  const auto paths = dial({peer(2, *other, "255.255.255.255")}, facts());
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_NE(paths[0].state, PathState::reached);
  EXPECT_TRUE(dial({peer(2, *other, "not an address")}, facts()).empty());
}

TEST_F(ProberTest, NobodyToDial) { EXPECT_TRUE(dial({}, facts()).empty()); }

TEST_F(ProberTest, AnAnswererSurvivesRubbishAndWhoHangsUp) {
  const auto other = answer(2);
  for (int i = 0; i < 20; ++i) {
    int error = 0;
    const io::Fd fd = runner::dial(*ipv4("127.0.0.1", other->port()), &error);
    loop_.turn(milliseconds(1));
    const std::string rubbish(static_cast<std::size_t>(i) * 10, 'x');
    (void)::send(fd.get(), rubbish.data(), rubbish.size(), MSG_NOSIGNAL);
    loop_.turn(milliseconds(1));
  }
  EXPECT_EQ(dial({peer(2, *other)}, facts())[0].state, PathState::reached);
}

TEST_F(ProberTest, ThePortsOfAnAnswererAreFreeWhenItIsGone) {
  RankPortPlan ranks;
  ranks.as_open_mpi = true;
  auto other = answer(2, kKey, ranks);
  ASSERT_EQ(other->rank_ports().size(), 1U);
  const std::uint16_t port = other->rank_ports()[0];
  EXPECT_EQ(dial({peer(2, *other)}, facts()).size(), 2U);
  other.reset();
  EXPECT_TRUE(listen_on(port, true)) << "as a rank does, with SO_REUSEADDR";
}

// A peer that has no time for the first connection: of that one it reads no data.
class BusyPeer {
 public:
  BusyPeer(io::EventLoop& loop, int node)
      : loop_(loop), node_(node), listener_(*listen_on(0, false)) {
    loop_.watch(listener_.get(), io::EventLoop::Interest::read, [this] { accept_one(); });
  }
  ~BusyPeer() {
    loop_.unwatch(listener_.get(), io::EventLoop::Interest::read);
    for (const auto& guest : guests_) loop_.unwatch(guest->fd.get(), io::EventLoop::Interest::read);
  }
  ProbePeer as_peer() const {
    ProbePeer peer;
    peer.offer.node_rank = node_;
    peer.offer.candidates = {{"lo", "127.0.0.1", 1500}};
    peer.offer.port = port_of_socket(listener_.get());
    return peer;
  }

 private:
  struct Guest {
    io::Fd fd;
    PathAnswer answer;
    std::size_t left;  // bytes that are read of it
  };
  void accept_one() {
    io::Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    constexpr std::size_t kWithoutData = kHelloBytes + kProofBytes + kRoundTrips * kOrderBytes;
    const std::size_t most = guests_.empty() ? kWithoutData : SIZE_MAX;
    guests_.push_back(std::unique_ptr<Guest>(
        new Guest{std::move(fd), PathAnswer(kKey, node_, fresh_nonce()), most}));
    Guest* const guest = guests_.back().get();
    loop_.watch(guest->fd.get(), io::EventLoop::Interest::read, [this, guest] { serve(*guest); });
  }
  void serve(Guest& guest) {
    char piece[4'096];
    const ssize_t got = guest.left == 0 ? 0
                                        : ::recv(guest.fd.get(), piece,
                                                 std::min(sizeof piece, guest.left), MSG_DONTWAIT);
    if (got <= 0) return loop_.unwatch(guest.fd.get(), io::EventLoop::Interest::read);
    guest.left -= static_cast<std::size_t>(got);
    guest.answer.received({piece, static_cast<std::size_t>(got)});
    const std::string out(guest.answer.to_send());
    guest.answer.sent(out.size());
    (void)::send(guest.fd.get(), out.data(), out.size(), MSG_NOSIGNAL);
  }

  io::EventLoop& loop_;
  const int node_;
  io::Fd listener_;
  std::vector<std::unique_ptr<Guest>> guests_;
};

TEST_F(ProberTest, APeerThatWasOnlyBusyIsReached) {
  const BusyPeer busy(loop_, 2);
  const auto paths = dial({busy.as_peer()}, facts());
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0].state, PathState::reached) << "a packet of full size passed";
  EXPECT_EQ(paths[0].mtu, 0);
  EXPECT_GE(took_, kSegmentsWithin);
  EXPECT_LT(took_, kPathsWithin);
}

// ---- the parent of a gang that does not connect ------------------------------------------------

class ParentCheckTest : public ProberTest {
 protected:
  std::optional<PathFailure> check(const std::string& address, std::uint16_t port) {
    GangMember member;
    member.address = address;
    member.runner_port = port;
    std::optional<PathFailure> found;
    ParentCheck parent(loop_, clock_, 1, 0, member, [&](auto failure) { found = failure; });
    Instant simulated = clock_.now() + kFirstParentCheck;  // it is due
    parent.expire(simulated);
    const Instant until = clock_.now() + milliseconds(300);
    while (clock_.now() < until && !found) loop_.turn(milliseconds(10));
    return found;
  }
};

TEST_F(ParentCheckTest, TellsWhyNot) {
  const io::Fd listener = mute();
  EXPECT_FALSE(check("127.0.0.1", port_of_socket(listener.get())));
  std::uint16_t closed = 0;
  {
    const io::Fd gone = mute();
    closed = port_of_socket(gone.get());
  }
  const auto refused = check("127.0.0.1", closed);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->trouble, PathTrouble::refused);
  EXPECT_EQ(refused->from, 1);
  EXPECT_EQ(refused->to, 0);
  EXPECT_EQ(refused->port, closed);
  EXPECT_EQ(refused->from_address, "127.0.0.1");
  EXPECT_EQ(refused->from_interface, "lo");
}

TEST_F(ParentCheckTest, SaysNothingOfNames) {
  GangMember member;
  member.address = "n0.example.org";
  ParentCheck parent(loop_, clock_, 1, 0, member, [](auto) { FAIL(); });
  EXPECT_EQ(parent.next_deadline(), Instant::never());
  parent.expire(clock_.now());
}

TEST_F(ParentCheckTest, TellsChangesAlone) {
  auto listener = std::make_unique<io::Fd>(mute());
  GangMember member;
  member.address = "127.0.0.1";
  member.runner_port = port_of_socket(listener->get());
  std::vector<bool> told;
  ParentCheck parent(loop_, clock_, 1, 0, member,
                     [&](auto failure) { told.push_back(failure.has_value()); });
  const auto look = [&] {
    parent.expire(parent.next_deadline());
    for (int i = 0; i < 20; ++i) loop_.turn(milliseconds(5));
  };
  look();
  EXPECT_TRUE(told.empty()) << "as is expected";
  listener.reset();
  look();
  look();
  EXPECT_EQ(told, std::vector<bool>{true});
  listener = std::make_unique<io::Fd>(*listen_on(member.runner_port, true));
  look();
  EXPECT_EQ(told, (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace lockstep::runner
