#include "agent/daemon/links/launcher_link.h"

#include <gtest/gtest.h>

#include "agent/daemon/links/bulk_link.h"
#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

class SteppedClock final : public io::Clock {
 public:
  Instant now() override { return now_; }
  void pass(Duration duration) { now_ = now_ + duration; }

 private:
  Instant now_{1'000'000'000};
};

// A launcher's control socket that comes and goes on one port, and a link to it.
class LauncherLinkTest : public testing::Test {
 protected:
  LauncherLinkTest() {
    listen("tcp://127.0.0.1:*");
    endpoint_ = server_->endpoint();
    link_.emplace(
        loop_, transport_, clock_,
        LauncherLink::Peer{endpoint_, launcher_keys_.public_key, io::generate_key_pair()},
        LauncherLink::Events{[this](io::ClientSocket::Link link) { links_.push_back(link); },
                             [](const std::string&) {}, [this] { ++unanswered_; }});
    EXPECT_TRUE(link_->dial());
  }
  void listen(const std::string& at) {
    // The socket before gives the port back a moment after it was closed.
    EXPECT_TRUE(turn_until([this] { loop_.turn(milliseconds(5)); },
                           [&] {
                             auto bound =
                                 io::ServerSocket::bind(transport_, at, "control", launcher_keys_);
                             if (bound) server_.emplace(*std::move(bound));
                             return server_.has_value();
                           }));
  }
  bool is_soon(io::ClientSocket::Link link) {
    return turn_until(
        [this] {
          loop_.turn(milliseconds(5));
          EXPECT_TRUE(link_->tick(clock_.now()));
        },
        [&] { return !links_.empty() && links_.back() == link; });
  }

  io::EventLoop loop_;
  bool authorised_ = true;
  io::Transport transport_{loop_,
                           [this](const std::string&, const PublicKey&) { return authorised_; }};
  SteppedClock clock_;
  const io::KeyPair launcher_keys_ = io::generate_key_pair();
  std::optional<io::ServerSocket> server_;
  std::string endpoint_;
  std::vector<io::ClientSocket::Link> links_;
  int unanswered_ = 0;
  std::optional<LauncherLink> link_;
};

using Link = io::ClientSocket::Link;

TEST_F(LauncherLinkTest, OfASmallClusterDialsAtOnce) {
  ASSERT_TRUE(is_soon(Link::up));
  EXPECT_TRUE(link_->send("hello"));
  server_.reset();
  ASSERT_TRUE(is_soon(Link::down));
  EXPECT_EQ(link_->next_deadline(), Instant::never());
  listen(endpoint_);
  EXPECT_TRUE(is_soon(Link::up));
}

TEST_F(LauncherLinkTest, OfALargeClusterDialsAtAMomentWithinTheSpread) {
  ASSERT_TRUE(is_soon(Link::up));
  link_->reconnect_within(minutes(10));
  server_.reset();
  ASSERT_TRUE(is_soon(Link::down));
  listen(endpoint_);
  const Instant due = link_->next_deadline();
  EXPECT_GE(due, clock_.now());
  EXPECT_LT(due, clock_.now() + minutes(10));
  EXPECT_FALSE(link_->send("nobody hears this"));
  EXPECT_TRUE(link_->redial());  // the core's, which is not to be in front of the others
  EXPECT_EQ(link_->next_deadline(), due);
  clock_.pass(due - clock_.now());
  EXPECT_TRUE(is_soon(Link::up));
}

TEST_F(LauncherLinkTest, SaysWhenNobodyAnswersAndDialsElsewhere) {
  ASSERT_TRUE(is_soon(Link::up));
  link_->give_up_after(seconds(3));
  EXPECT_EQ(link_->next_deadline(), Instant::never()) << "it is connected";
  server_.reset();
  ASSERT_TRUE(is_soon(Link::down));
  EXPECT_EQ(link_->next_deadline(), clock_.now() + seconds(3));
  clock_.pass(seconds(2));
  EXPECT_TRUE(link_->tick(clock_.now()));
  EXPECT_EQ(unanswered_, 0);
  clock_.pass(seconds(1));
  EXPECT_TRUE(link_->tick(clock_.now()));
  EXPECT_EQ(unanswered_, 1);
  listen("tcp://127.0.0.1:*");
  EXPECT_TRUE(link_->dial_at(server_->endpoint()));
  EXPECT_TRUE(is_soon(Link::up));
  EXPECT_EQ(link_->next_deadline(), Instant::never());
}

TEST_F(LauncherLinkTest, DialsAnewWhenTheLauncherIsSilent) {
  ASSERT_TRUE(is_soon(Link::up));
  links_.clear();
  EXPECT_TRUE(link_->redial());
  EXPECT_TRUE(is_soon(Link::up));
}

TEST_F(LauncherLinkTest, DialsAgainWhenItsKeyWasRefused) {
  ASSERT_TRUE(is_soon(Link::up));
  authorised_ = false;
  EXPECT_TRUE(link_->redial());
  ASSERT_TRUE(is_soon(Link::refused));
  authorised_ = true;
  EXPECT_EQ(link_->next_deadline(), clock_.now() + kRedialRefusedAfter);
  clock_.pass(kRedialRefusedAfter);
  EXPECT_TRUE(is_soon(Link::up));
}

}  // namespace
}  // namespace lockstep::agent
