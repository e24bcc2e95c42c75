#include "runner/gang/link_stream.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace lockstep::runner {
namespace {

TEST(LinkFrame, RoundTrips) {
  const LinkFrame frame{LinkFrame::Kind::data, 7, kToEveryone, 1ull << 40, 3,
                        std::string("a\0b", 3)};
  const auto back = decode_frame(encode_frame(frame));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->kind, frame.kind);
  EXPECT_EQ(back->from, 7);
  EXPECT_EQ(back->to, kToEveryone);
  EXPECT_EQ(back->sequence, 1ull << 40);
  EXPECT_EQ(back->acknowledged, 3u);
  EXPECT_EQ(back->payload, frame.payload);
}

TEST(LinkFrame, RefusesWhatIsNotOurs) {
  EXPECT_FALSE(decode_frame(""));
  EXPECT_FALSE(decode_frame(std::string(31, 'x')));
  EXPECT_FALSE(decode_frame(std::string(64, '\0')));
  std::string bytes = encode_frame(LinkFrame{});
  bytes[4] = 9;  // an unknown kind
  EXPECT_FALSE(decode_frame(bytes));
}

TEST(LinkStream, HoldsBackUntilAcknowledged) {
  LinkStream a, b;
  a.push(0, kToNeighbour, "one");
  auto frame = a.next();
  ASSERT_TRUE(frame);
  a.sent();
  EXPECT_FALSE(a.next());
  EXPECT_FALSE(a.flushed());
  EXPECT_TRUE(b.accept(*frame));
  EXPECT_TRUE(b.acknowledgement_due());
  EXPECT_FALSE(a.accept(b.control(LinkFrame::Kind::beat, 1)));
  EXPECT_TRUE(a.flushed());
}

TEST(LinkStream, DropsDoublesAndAsksAfterAGap) {
  LinkStream a, b;
  for (const char* text : {"1", "2", "3"}) a.push(0, kToNeighbour, text);
  std::vector<LinkFrame> frames;
  while (auto frame = a.next()) {
    frames.push_back(*frame);
    a.sent();
  }
  EXPECT_TRUE(b.accept(frames[0]));
  EXPECT_FALSE(b.accept(frames[0]));
  EXPECT_FALSE(b.take_gap());
  EXPECT_FALSE(b.accept(frames[2]));
  EXPECT_TRUE(b.take_gap());
  EXPECT_FALSE(b.take_gap());
  a.accept(b.control(LinkFrame::Kind::resend, 1));
  EXPECT_EQ(a.next()->payload, "2");
}

// Two streams over connections that lose everything in flight at any moment: all arrives, in order,
// once, after the next connection.
TEST(LinkStream, SurvivesBrokenConnections) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    LinkStream a, b;
    std::vector<LinkFrame> wire_ab, wire_ba;
    int pushed = 0, expected = 0;
    const auto carry = [&](std::vector<LinkFrame>& wire, LinkStream& to,
                           std::vector<LinkFrame>& back, int* count) {
      for (const LinkFrame& frame : std::exchange(wire, {})) {
        if (to.accept(frame)) {
          EXPECT_EQ(frame.payload, std::to_string((*count)++));
        }
        if (to.take_gap()) back.push_back(to.control(LinkFrame::Kind::resend, 0));
      }
    };
    for (int step = 0; step < 200; ++step) {
      switch (random() % 5) {
        case 0: a.push(0, kToNeighbour, std::to_string(pushed++)); break;
        case 1:
          while (auto frame = a.next()) {
            wire_ab.push_back(*frame);
            a.sent();
          }
          break;
        case 2:
          carry(wire_ab, b, wire_ba, &expected);
          wire_ba.push_back(b.control(LinkFrame::Kind::beat, 1));
          break;
        case 3: {
          int none = 0;
          carry(wire_ba, a, wire_ab, &none);
          break;
        }
        case 4:  // broken: what was in flight is gone; the acceptor asks again
          if (random() % 4) break;
          wire_ab.clear();
          wire_ba.clear();
          wire_ba.push_back(b.control(LinkFrame::Kind::resend, 1));
          break;
      }
    }
    for (int turn = 0; turn < 4; ++turn) {
      int none = 0;
      carry(wire_ba, a, wire_ab, &none);
      while (auto frame = a.next()) {
        wire_ab.push_back(*frame);
        a.sent();
      }
      carry(wire_ab, b, wire_ba, &expected);
      wire_ba.push_back(b.control(LinkFrame::Kind::beat, 1));
    }
    EXPECT_EQ(expected, pushed) << "seed " << seed;
    EXPECT_TRUE(a.flushed()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lockstep::runner
