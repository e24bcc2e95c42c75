// Every deadline of a connection: clients and handlers that are slow, or stop.

#include <gtest/gtest.h>

#include "tests/unit/launcher/gateway/http/connection_talk.h"
#include "tests/unit/launcher/gateway/http/hostile_requests.h"

namespace lockstep::http {
namespace {

using test::has;
using test::kBegin;
using test::statuses_in;
using test::Talk;
using Statuses = std::vector<std::string>;

class SilentSource final : public BodySource {
 public:
  Piece read(std::size_t) override { return {"", State::later}; }
};
Response silent_answer(std::optional<Heartbeat> heartbeat = {}) {
  Response response;
  response.source = std::make_shared<SilentSource>();
  response.heartbeat = std::move(heartbeat);
  return response;
}

TEST(ConnectionTime, WhoSaysNothingIsClosed) {
  Talk talk;
  EXPECT_EQ(talk.connection.deadline(), kBegin + Limits{}.first_byte);
  talk.pass(seconds(14));
  EXPECT_FALSE(talk.connection.is_over());
  talk.pass(seconds(1));
  EXPECT_TRUE(talk.connection.is_over());
  EXPECT_EQ(talk.received, "");
}

TEST(ConnectionTime, AHeadThatDripsIsRefused) {
  Talk talk;
  int sent = 0;
  while (!talk.connection.has_ended_output() && sent < 100) {
    talk.send(sent == 0 ? "G" : "E");
    ++sent;
    talk.pass(seconds(1));
  }
  EXPECT_LE(sent, 11) << "a byte a second does not count as progress";
  EXPECT_EQ(statuses_in(talk.received), (Statuses{"408"}));
}

TEST(ConnectionTime, BetweenRequestsItIsKeptForAWhile) {
  Talk talk;
  talk.answers_at_once = true;
  talk.send(test::get(""));
  talk.pass(seconds(74));
  EXPECT_FALSE(talk.connection.is_over());
  talk.send(test::get(""));
  EXPECT_EQ(talk.answered.size(), 2U);
  talk.pass(seconds(75));
  EXPECT_TRUE(talk.connection.is_over());
  EXPECT_TRUE(talk.dropped.empty());
}

TEST(ConnectionTime, ABodyThatStopsIsRefused) {
  Talk talk;
  talk.send(test::post("Content-Length: 100000\r\n", std::string(50'000, 'x')));
  talk.pass(seconds(29));
  EXPECT_EQ(talk.received, "");
  talk.pass(seconds(1));
  EXPECT_EQ(statuses_in(talk.received), (Statuses{"408"}));
  ASSERT_EQ(talk.dropped.size(), 1U);
  EXPECT_TRUE(talk.dropped[0].was_begun);
}

TEST(ConnectionTime, ABodyThatDripsIsRefused) {
  Talk talk;
  talk.send(test::post("Content-Length: 100000\r\n", ""));
  int sent = 0;
  while (!talk.connection.has_ended_output() && sent < 1'000) {
    talk.send("x");
    ++sent;
    talk.pass(seconds(5));
  }
  EXPECT_LE(sent, 5);
  EXPECT_EQ(statuses_in(talk.received), (Statuses{"408"}));
}

TEST(ConnectionTime, ABodyThatComesAtASlowLinesPaceIsTaken) {
  Talk talk;
  talk.send(test::post("Content-Length: 600000\r\n", ""));
  for (int i = 0; i < 300; ++i) {
    talk.pass(seconds(1));
    talk.send(std::string(2'000, 'x'));
  }
  EXPECT_EQ(talk.complete_bodies, 1);
  EXPECT_EQ(talk.received, "");
}

TEST(ConnectionTime, TheHandlersWaitIsNotTheClients) {
  Talk talk;
  talk.send(test::post("Content-Length: 100000\r\n", ""));
  talk.connection.hold_body(talk.now, true);
  talk.pass(seconds(60));
  EXPECT_EQ(talk.received, "");
  talk.connection.hold_body(talk.now, false);
  talk.send(std::string(100'000, 'x'));
  EXPECT_EQ(talk.complete_bodies, 1);
}

TEST(ConnectionTime, AHandlerThatDoesNotAnswerIsGivenUp) {
  Talk talk;
  talk.send(test::get(""));
  talk.pass(seconds(119));
  EXPECT_EQ(talk.received, "");
  talk.pass(seconds(1));
  EXPECT_EQ(statuses_in(talk.received), (Statuses{"504"}));
  talk.answer(text_response(200, "text/plain", "late"));
  EXPECT_FALSE(has(talk.received, "late"));
}

TEST(ConnectionTime, AnAnswerThatStopsIsBroken) {
  Talk talk;
  talk.send(test::get(""));
  talk.answer(silent_answer());
  talk.pass(seconds(120));
  EXPECT_TRUE(talk.connection.is_over());
  EXPECT_EQ(talk.dropped.size(), 1U);
}

TEST(ConnectionTime, WhoReadsNothingIsClosed) {
  Talk talk;
  talk.is_client_stuck = true;
  talk.send(test::get(""));
  talk.answer(text_response(200, "text/plain", std::string(1'000'000, 'x')));
  talk.pass(seconds(29));
  EXPECT_FALSE(talk.connection.is_over());
  talk.connection.wrote(talk.now, 1);
  talk.pass(seconds(29));
  EXPECT_FALSE(talk.connection.is_over()) << "it reads, slowly";
  talk.pass(seconds(1));
  EXPECT_TRUE(talk.connection.is_over());
  EXPECT_EQ(talk.dropped.size(), 1U);
}

TEST(ConnectionTime, AQuietStreamBeats) {
  Talk talk;
  talk.send(test::get(""));
  talk.answer(silent_answer(Heartbeat{":\n\n"}));
  talk.take_received();
  for (int i = 0; i < 1'000; ++i) {
    talk.pass(seconds(15));
    ASSERT_EQ(talk.take_received(), "3\r\n:\n\n\r\n") << i;
  }
  EXPECT_FALSE(talk.connection.is_over());
}

TEST(ConnectionTime, AStreamThatNobodyReadsIsClosed) {
  Talk talk;
  talk.send(test::get(""));
  talk.answer(silent_answer(Heartbeat{":\n\n"}));
  talk.is_client_stuck = true;
  talk.pass(seconds(15));
  talk.pass(seconds(30));
  EXPECT_TRUE(talk.connection.is_over());
}

TEST(ConnectionTime, AfterTheLastAnswerItReadsOnForAMoment) {
  Talk talk;
  talk.answers_at_once = true;
  talk.send(test::get("Connection: close\r\n"));
  EXPECT_TRUE(talk.connection.has_ended_output());
  EXPECT_FALSE(talk.connection.is_over());
  EXPECT_TRUE(talk.connection.wants_input());
  talk.send("what comes now is forgotten");
  talk.pass(seconds(2));
  EXPECT_TRUE(talk.connection.is_over());
}

TEST(ConnectionTime, NoDeadlineIsMissed) {
  // In each state there is a deadline, but for a live stream's they end in an end.
  for (const std::string& bytes :
       {std::string(), std::string("GET /"), test::get(""),
        test::post("Content-Length: 5\r\n", "h"), test::post("Content-Length: 5\r\n", "hello"),
        std::string("\n")}) {
    Talk talk;
    talk.send(bytes);
    for (int i = 0; i < 10 && !talk.connection.is_over(); ++i) {
      ASSERT_NE(talk.connection.deadline(), Instant::never()) << bytes;
      ASSERT_GT(talk.connection.deadline(), talk.now) << bytes;
      talk.pass(talk.connection.deadline() - talk.now);
    }
    EXPECT_TRUE(talk.connection.is_over()) << bytes;
  }
}

}  // namespace
}  // namespace lockstep::http
