// Both sides of a probe's connection, byte by byte, in simulated time.
#include <gtest/gtest.h>

#include <cerrno>

#include "runner/fabric/probe/path_test.h"

namespace lockstep::runner {
namespace {

const std::string kKey(32, 'k');
const std::string kNonce(kTalkNonceBytes, 'n');

TalkHello hello(int from, int to, bool greets_only = false) {
  return {from, to, greets_only, kNonce};
}

// A line between a test and whoever answers.
class Line {
 public:
  explicit Line(bool burst = false, bool greets_only = false, const std::string& key = kKey,
                int to = 2)
      : test(kKey, hello(1, to, greets_only), {kSegmentsBytes, burst}, now),
        answer(key, 2, std::string(16, 'a')) {}

  // Until neither has anything to say; at most `piece` bytes at a time.
  void run(std::size_t piece = 1'460, std::size_t most = SIZE_MAX) {
    for (std::size_t total = 0; total < most;) {
      const std::string out(test.to_send().substr(0, piece));
      if (out.size() > lost_above) {
        test.sent(out.size());  // the kernel took it; it never arrives
        continue;
      }
      test.sent(out.size());
      now = now + way;
      answer.received(out);
      const std::string back(answer.to_send().substr(0, piece));
      answer.sent(back.size());
      now = now + way;
      test.received(now, back);
      if (answer.is_broken()) test.closed();
      total += out.size() + back.size();
      if (out.empty() && back.empty()) return;
    }
  }

  Instant now{1'000'000'000};
  Duration way = std::chrono::microseconds(50);
  std::size_t lost_above = SIZE_MAX;
  PathTest test;
  PathAnswer answer;
};

TEST(PathTalkTest, ATestMeasuresTheRoundTrip) {
  for (const std::size_t piece : {1U, 7U, 1'460U}) {
    Line line;
    line.test.connected(line.now);
    line.run(piece);
    ASSERT_TRUE(line.test.is_over());
    EXPECT_EQ(line.test.state(), PathState::reached);
    EXPECT_GE(line.test.round_trip(), 2 * line.way);
    EXPECT_EQ(line.test.speed_mbps(), -1);
    EXPECT_FALSE(line.answer.is_broken());
  }
}

TEST(PathTalkTest, ABurstMeasuresTheSpeed) {
  Line line(true);
  line.test.connected(line.now);
  line.run(1u << 20);
  EXPECT_EQ(line.test.state(), PathState::reached);
  EXPECT_GT(line.test.speed_mbps(), 0);
}

TEST(PathTalkTest, AKnockEndsWithTheAnswer) {
  Line line(false, true);
  line.test.connected(line.now);
  line.run();
  EXPECT_TRUE(line.test.is_over());
  EXPECT_EQ(line.test.state(), PathState::reached);
  EXPECT_EQ(line.test.round_trip(), Duration(0));
}

TEST(PathTalkTest, WhoLacksTheKeyOrIsAnotherNodeIsNotThePeer) {
  Line other_key(false, false, std::string(32, 'x'));
  other_key.test.connected(other_key.now);
  other_key.run();
  EXPECT_EQ(other_key.test.state(), PathState::other_host);
  Line other_node(false, false, kKey, 3);
  other_node.test.connected(other_node.now);
  other_node.run();
  EXPECT_EQ(other_node.test.state(), PathState::other_host);
  EXPECT_TRUE(other_node.answer.is_broken());
}

TEST(PathTalkTest, AnAnswerOfAnotherConnectionProvesNothing) {
  PathAnswer first(kKey, 2, std::string(16, 'a'));
  first.received(encode_hello(hello(1, 2)));
  TalkHello other = hello(1, 2);
  other.nonce = std::string(16, 'm');
  PathTest test(kKey, other, {}, Instant{1});
  test.connected(Instant{1});
  test.received(Instant{2}, first.to_send());
  EXPECT_EQ(test.state(), PathState::other_host);
}

TEST(PathTalkTest, FullSegmentsThatNeverArriveAreABlackHole) {
  Line line;
  line.lost_above = 1'400;
  line.test.connected(line.now);
  line.run();
  ASSERT_FALSE(line.test.is_over());
  EXPECT_GT(line.test.round_trip(), Duration(0)) << "small ones did";
  line.now = line.test.deadline();
  line.test.expire(line.now);
  ASSERT_TRUE(line.test.is_over());
  EXPECT_TRUE(line.test.lost_large_packets());
}

TEST(PathTalkTest, ALongWayIsNoBlackHole) {
  Line line;
  line.way = milliseconds(400);  // over a satellite, and back
  line.lost_above = 1'400;
  line.test.connected(line.now);
  line.run();
  ASSERT_FALSE(line.test.is_over());
  EXPECT_GE(line.test.deadline() - line.now, 2 * 2 * line.way) << "of the round trips for 16 KiB";
}

TEST(PathTalkTest, EachStepHasItsTime) {
  Line silent;
  EXPECT_EQ(silent.test.deadline(), silent.now + kDialWithin);
  silent.test.expire(silent.now + kDialWithin - Duration(1));
  EXPECT_FALSE(silent.test.is_over());
  silent.test.expire(silent.now + kDialWithin);
  EXPECT_EQ(silent.test.state(), PathState::timed_out);
  EXPECT_EQ(silent.test.deadline(), Instant::never());
  Line mute;
  mute.test.connected(mute.now);
  mute.test.expire(mute.now + kAnswerWithin);
  EXPECT_EQ(mute.test.state(), PathState::timed_out);
  EXPECT_FALSE(mute.test.lost_large_packets());
}

TEST(PathTalkTest, ASlowBurstIsNoFailure) {
  Line line(true);
  line.test.connected(line.now);
  line.run(1'460, 40'000);
  ASSERT_FALSE(line.test.is_over());
  line.test.expire(line.test.deadline());
  EXPECT_EQ(line.test.state(), PathState::reached);
  EXPECT_EQ(line.test.speed_mbps(), -1);
}

TEST(PathTalkTest, ErrorsOfTheKernelAreTold) {
  for (const auto& [error, state] :
       {std::pair{ECONNREFUSED, PathState::refused}, std::pair{ECONNRESET, PathState::refused},
        std::pair{EACCES, PathState::refused}, std::pair{ETIMEDOUT, PathState::timed_out},
        std::pair{EHOSTUNREACH, PathState::no_route}, std::pair{ENETUNREACH, PathState::no_route},
        std::pair{EADDRNOTAVAIL, PathState::no_route}}) {
    Line line;
    line.test.failed(error);
    EXPECT_EQ(line.test.state(), state) << error;
    line.test.failed(ETIMEDOUT);  // it is over
    EXPECT_EQ(line.test.state(), state);
  }
}

TEST(PathTalkTest, WhoDialsMustProveItBeforeItIsServed) {
  PathAnswer answer(kKey, 2, std::string(16, 'a'));
  answer.received(encode_hello(hello(1, 2)));
  EXPECT_EQ(answer.to_send().size(), kAnswerBytes);
  answer.sent(kAnswerBytes);
  answer.received(std::string(kProofBytes, 'p'));
  EXPECT_TRUE(answer.is_broken());
  answer.received(encode_order({TalkOrder::Kind::ping, 1}));
  EXPECT_EQ(answer.to_send(), "");
}

TEST(PathTalkTest, NobodySendsWithoutEnd) {
  PathAnswer answer(kKey, 2, std::string(16, 'a'));
  answer.received(encode_hello(hello(1, 2)));
  const std::string said(answer.to_send());
  answer.sent(said.size());
  answer.received(make_proof(kKey, hello(1, 2), said));
  answer.received(encode_order({TalkOrder::Kind::data, UINT32_MAX}));
  EXPECT_TRUE(answer.is_broken());
}

TEST(PathTalkTest, RubbishIsHungUpOn) {
  for (const std::string& rubbish :
       {std::string(kHelloBytes, '\0'), std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n......"),
        encode_hello(hello(-1, 2)), encode_hello(hello(1, -2))}) {
    PathAnswer answer(kKey, 2, std::string(16, 'a'));
    answer.received(rubbish);
    EXPECT_TRUE(answer.is_broken());
  }
}

TEST(PathTalkTest, OneSegmentOfASizeCanBeSent) {
  for (const std::size_t passes : {1'348U, 1'347U}) {
    Instant now{1'000'000'000};
    PathTest test(kKey, hello(1, 2), {1'348, false, 1}, now);
    PathAnswer answer(kKey, 2, std::string(16, 'a'));
    test.connected(now);
    for (int i = 0; i < 20 && !test.is_over(); ++i) {
      const std::string out(test.to_send());
      test.sent(out.size());
      if (out.size() <= passes) answer.received(out);
      const std::string back(answer.to_send());
      answer.sent(back.size());
      test.received(now, back);
    }
    EXPECT_EQ(test.is_over(), passes == 1'348U);
  }
}

TEST(PathTalkTest, OrdersOfNoKindAreNone) {
  EXPECT_EQ(decode_order(encode_order({TalkOrder::Kind::data, 77})),
            (TalkOrder{TalkOrder::Kind::data, 77}));
  EXPECT_FALSE(decode_order(std::string(8, '\x07')));
  EXPECT_FALSE(decode_order("short"));
}

}  // namespace
}  // namespace lockstep::runner
