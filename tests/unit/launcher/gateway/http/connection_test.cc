// What a connection makes of requests and answers, without time passing.

#include "launcher/gateway/http/server/connection.h"

#include <gtest/gtest.h>

#include "tests/unit/launcher/gateway/http/connection_talk.h"
#include "tests/unit/launcher/gateway/http/hostile_requests.h"

namespace lockstep::http {
namespace {

using test::has;
using test::statuses_in;
using test::Talk;
using Statuses = std::vector<std::string>;

const std::string kGet = test::get("");
const std::string kPost = test::post("Content-Length: 5\r\n", "hello");

// Gives what the test puts into it.
class ScriptedSource final : public BodySource {
 public:
  Piece read(std::size_t at_most) override {
    ++reads;
    largest = std::max(largest, at_most);
    if (pieces.empty()) return {"", State::later};
    Piece piece = pieces.front();
    pieces.erase(pieces.begin());
    return piece;
  }
  std::vector<Piece> pieces;
  int reads = 0;
  std::size_t largest = 0;
};

Response streamed(const std::shared_ptr<BodySource>& source,
                  std::optional<std::uint64_t> length = {}) {
  Response response;
  response.source = source;
  response.length = length;
  return response;
}

TEST(Connection, AnswersOneRequestAfterTheOther) {
  Talk talk;
  talk.send(kGet);
  ASSERT_EQ(talk.requests.size(), 1U);
  EXPECT_EQ(talk.received, "");
  talk.answer(text_response(200, "text/plain", "one"));
  const std::string first = talk.take_received();
  EXPECT_TRUE(has(first, "HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(has(first, "content-length: 3\r\n"));
  EXPECT_TRUE(first.ends_with("\r\n\r\none"));
  EXPECT_FALSE(has(first, "connection:"));
  EXPECT_TRUE(talk.connection.is_idle());
  talk.send(kGet);
  talk.answer(text_response(404, "text/plain", ""));
  EXPECT_EQ(statuses_in(talk.received), (Statuses{"404"}));
  ASSERT_EQ(talk.answered.size(), 2U);
  EXPECT_EQ(talk.answered[0].bytes_out, 3U);
}

TEST(Connection, AnswersThatComeAtOnceKeepItOpen) {
  Talk talk;
  talk.answers_at_once = true;
  for (int i = 0; i < 10; ++i) talk.send(kGet);
  EXPECT_EQ(statuses_in(talk.received), Statuses(10, "200"));
  EXPECT_FALSE(has(talk.received, "connection: close"));
}

TEST(Connection, PipelinedRequestsAreAnsweredInTheirOrder) {
  Talk talk;
  talk.send(kGet + kPost + kGet);
  EXPECT_EQ(talk.requests.size(), 1U) << "the next begins when this one is answered";
  talk.answer(text_response(200, "text/plain", ""));
  EXPECT_EQ(talk.requests.size(), 2U);
  EXPECT_EQ(talk.body, "hello");
  EXPECT_EQ(talk.complete_bodies, 1);
  talk.answer(text_response(201, "text/plain", ""));
  talk.answer(text_response(202, "text/plain", ""));
  EXPECT_EQ(statuses_in(talk.received), (Statuses{"200", "201", "202"}));
}

TEST(Connection, WhatIsPipelinedIsBounded) {
  const Limits limits;
  Talk talk;
  std::size_t sent = 0;
  while (talk.connection.wants_input() && sent < (10U << 20)) {
    talk.send(kGet);
    sent += kGet.size();
  }
  EXPECT_LE(sent, limits.input_bytes + 2 * kGet.size());
  talk.answers_at_once = true;
  talk.answer(text_response(200, "text/plain", ""));
  EXPECT_TRUE(talk.connection.wants_input());
}

TEST(Connection, AnswersThatNobodyReadsAreBounded) {
  const Limits limits;
  Talk talk;
  talk.answers_at_once = true;
  talk.at_once = empty_response(304);
  talk.is_client_stuck = true;
  for (int i = 0; i < 10'000 && talk.connection.wants_input(); ++i) talk.send(kGet);
  EXPECT_FALSE(talk.connection.wants_input());
  EXPECT_LE(talk.connection.output().size(), limits.output_bytes + 2'000);
}

TEST(Connection, AHeadHasTheFieldsAndNoBody) {
  Talk talk;
  talk.answers_at_once = true;
  talk.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(has(talk.received, "content-length: 5\r\n"));
  EXPECT_TRUE(talk.received.ends_with("\r\n\r\n"));
  talk.take_received();
  const auto source = std::make_shared<ScriptedSource>();
  talk.at_once = streamed(source);
  talk.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(has(talk.received, "transfer-encoding: chunked\r\n"));
  EXPECT_EQ(source->reads, 0);
  EXPECT_TRUE(talk.connection.is_idle());
}

TEST(Connection, AnAnswerWithoutABodyHasNoLength) {
  Talk talk;
  talk.answers_at_once = true;
  for (const int status : {204, 304}) {
    talk.at_once = empty_response(status);
    talk.send(kGet);
    const std::string answer = talk.take_received();
    EXPECT_FALSE(has(answer, "content-length")) << answer;
    EXPECT_FALSE(has(answer, "transfer-encoding")) << answer;
  }
}

TEST(Connection, AStreamOfUnknownLengthIsChunked) {
  Talk talk;
  const auto source = std::make_shared<ScriptedSource>();
  source->pieces = {{"hello", BodySource::State::later}};
  talk.send(kGet);
  talk.answer(streamed(source));
  EXPECT_TRUE(has(talk.received, "transfer-encoding: chunked\r\n"));
  EXPECT_TRUE(talk.received.ends_with("\r\n\r\n5\r\nhello\r\n"));
  source->pieces = {{"", BodySource::State::more}, {"0123456789abcdef", BodySource::State::end}};
  talk.connection.source_is_ready(talk.now);
  talk.turn();
  EXPECT_TRUE(talk.received.ends_with("10\r\n0123456789abcdef\r\n0\r\n\r\n"));
  ASSERT_EQ(talk.answered.size(), 1U);
  EXPECT_EQ(talk.answered[0].bytes_out, 21U);
  EXPECT_TRUE(talk.connection.is_idle());
}

TEST(Connection, AStreamForHttp10EndsTheConnection) {
  Talk talk;
  const auto source = std::make_shared<ScriptedSource>();
  source->pieces = {{"hello", BodySource::State::end}};
  talk.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
  talk.answer(streamed(source));
  EXPECT_FALSE(has(talk.received, "transfer-encoding"));
  EXPECT_TRUE(has(talk.received, "connection: close\r\n"));
  EXPECT_TRUE(talk.received.ends_with("\r\n\r\nhello"));
  EXPECT_TRUE(talk.connection.has_ended_output());
}

TEST(Connection, AStreamWaitsForItsReader) {
  const Limits limits;
  Talk talk;
  talk.is_client_stuck = true;
  const auto source = std::make_shared<ScriptedSource>();
  for (int i = 0; i < 1'000; ++i)
    source->pieces.push_back({std::string(10'000, 'x'), BodySource::State::more});
  talk.send(kGet);
  talk.answer(streamed(source));
  EXPECT_LE(talk.connection.output().size(), limits.output_bytes + 12'000);
  EXPECT_LE(source->reads, 10);
  const int before = source->reads;
  talk.connection.wrote(talk.now, talk.connection.output().size());
  EXPECT_GT(source->reads, before) << "it goes on when there is room";
}

TEST(Connection, AStreamThatIsShorterOrLongerThanItSaidIsBroken) {
  for (const char* text : {"hell", "hello!"}) {
    Talk talk;
    const auto source = std::make_shared<ScriptedSource>();
    source->pieces = {{text, BodySource::State::end}};
    talk.send(kGet + kGet);
    talk.answer(streamed(source, 5));
    EXPECT_TRUE(talk.connection.is_over());
    ASSERT_EQ(talk.dropped.size(), 1U);
    EXPECT_TRUE(talk.dropped[0].was_begun);
    EXPECT_EQ(talk.requests.size(), 1U) << "what follows would be read as its end";
  }
}

TEST(Connection, AStreamThatFailsHasNoEnd) {
  Talk talk;
  const auto source = std::make_shared<ScriptedSource>();
  source->pieces = {{"hello", BodySource::State::more}, {"", BodySource::State::failed}};
  talk.send(kGet);
  talk.answer(streamed(source));
  EXPECT_TRUE(talk.connection.is_over());
  EXPECT_FALSE(has(talk.received, "\r\n0\r\n\r\n"));
  EXPECT_EQ(talk.answered.size(), 0U);
}

TEST(Connection, ABodyIsAskedForWhenItIsWanted) {
  Talk talk;
  talk.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(talk.take_received(), "HTTP/1.1 100 Continue\r\n\r\n");
  talk.send("hello");
  EXPECT_EQ(talk.complete_bodies, 1);
  talk.answer(text_response(200, "text/plain", ""));
  EXPECT_EQ(statuses_in(talk.received), (Statuses{"200"}));
  EXPECT_TRUE(talk.connection.is_idle());
}

TEST(Connection, ABodyThatIsThereIsNotAskedFor) {
  Talk talk;
  talk.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello");
  EXPECT_EQ(talk.received, "");
  EXPECT_EQ(talk.body, "hello");
}

TEST(Connection, AnAnswerInsteadOfContinueEndsTheConnection) {
  Talk talk;
  talk.takes_bodies = false;
  talk.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 33\r\nExpect: 100-continue\r\n\r\n");
  talk.answer(text_response(403, "text/plain", ""));
  EXPECT_EQ(statuses_in(talk.received), (Statuses{"403"}));
  EXPECT_TRUE(has(talk.received, "connection: close\r\n"));
  talk.send(test::kHidden);  // the body, which is no request
  EXPECT_EQ(talk.requests.size(), 1U);
}

TEST(Connection, ABodyThatIsTooLongIsRefused) {
  for (const std::string& request :
       {test::post("Content-Length: 1000001\r\n", ""),
        test::chunks("f4241\r\n" + std::string(1'000'001, 'x') + "\r\n")}) {
    Talk talk;
    talk.send(request);
    EXPECT_EQ(statuses_in(talk.received), (Statuses{"413"}));
    EXPECT_TRUE(has(talk.received, "connection: close\r\n"));
    ASSERT_EQ(talk.dropped.size(), 1U);
    EXPECT_EQ(talk.dropped[0].status, 413);
    talk.answer(text_response(200, "text/plain", ""));
    EXPECT_EQ(statuses_in(talk.received), (Statuses{"413"})) << "the handler's comes too late";
  }
}

TEST(Connection, ABodyThatNobodyHasRoomForWaits) {
  const Limits limits;
  Talk talk;
  talk.send(test::post("Content-Length: 900000\r\n", ""));
  talk.connection.hold_body(talk.now, true);
  std::size_t sent = 0;
  while (talk.connection.wants_input() && sent < 900'000) {
    talk.send(std::string(1'000, 'x'));
    sent += 1'000;
  }
  EXPECT_LE(sent, limits.input_bytes + 1'000);
  EXPECT_EQ(talk.body, "");
  talk.connection.hold_body(talk.now, false);
  talk.turn();
  EXPECT_EQ(talk.body.size(), sent);
  EXPECT_TRUE(talk.connection.wants_input());
}

TEST(Connection, HostileBytesAreAnsweredOnceAndEndIt) {
  for (const auto& hostile : test::hostile_requests()) {
    SCOPED_TRACE(hostile.name);
    Talk talk;
    talk.send(hostile.bytes + test::kHidden);
    EXPECT_EQ(statuses_in(talk.received), (Statuses{std::to_string(hostile.status)}));
    EXPECT_TRUE(has(talk.received, "application/problem+json"));
    EXPECT_TRUE(has(talk.received, "connection: close\r\n"));
    EXPECT_TRUE(talk.connection.has_ended_output());
    ASSERT_EQ(talk.dropped.size(), 1U);
    EXPECT_EQ(talk.dropped[0].was_begun, !talk.requests.empty());
    for (const Request& request : talk.requests) EXPECT_EQ(request.target, "/");
    talk.send(test::kHidden);
    talk.hang_up();
    EXPECT_TRUE(talk.connection.is_over());
    EXPECT_EQ(statuses_in(talk.received).size(), 1U);
  }
}

TEST(Connection, ARefusalBehindAHeadRequestHasABody) {
  Talk talk;
  talk.answers_at_once = true;
  talk.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/9.9\r\n\r\n");
  EXPECT_EQ(statuses_in(talk.received), (Statuses{"200", "505"}));
  EXPECT_TRUE(talk.received.ends_with("}\n")) << "the refusal is not an answer to the HEAD";
}

TEST(Connection, AClientThatEndsItsSideGetsItsAnswers) {
  Talk talk;
  talk.send(kGet + kGet);
  talk.hang_up();
  EXPECT_FALSE(talk.connection.wants_input());
  talk.answer(text_response(200, "text/plain", "a"));
  talk.answer(text_response(200, "text/plain", "b"));
  EXPECT_EQ(statuses_in(talk.received), (Statuses{"200", "200"}));
  EXPECT_TRUE(talk.connection.is_over());
}

TEST(Connection, AClientThatGoesWithinItsBodyIsDropped) {
  Talk talk;
  talk.send(test::post("Content-Length: 5\r\n", "hel"));
  talk.hang_up();
  EXPECT_TRUE(talk.connection.is_over());
  ASSERT_EQ(talk.dropped.size(), 1U);
  EXPECT_EQ(talk.dropped[0].status, 0);
  EXPECT_EQ(talk.complete_bodies, 0);
}

TEST(Connection, AClientThatGoesWithinItsHeadLeavesNoTrace) {
  for (const char* begin : {"", "G", "GET / HTTP/1.1\r\nHost: a\r\n"}) {
    Talk talk;
    talk.send(begin);
    talk.hang_up();
    EXPECT_TRUE(talk.connection.is_over()) << begin;
    EXPECT_EQ(talk.received, "");
    EXPECT_TRUE(talk.dropped.empty());
  }
}

TEST(Connection, ALiveStreamEndsWhenItsReaderGoes) {
  Talk talk;
  talk.send(kGet);
  Response response = streamed(std::make_shared<ScriptedSource>());
  response.heartbeat = Heartbeat{":\n\n"};
  talk.answer(std::move(response));
  talk.hang_up();
  EXPECT_TRUE(talk.connection.is_over());
  EXPECT_EQ(talk.dropped.size(), 1U);
}

TEST(Connection, ABrokenConnectionDropsItsExchange) {
  Talk talk;
  talk.send(kGet);
  talk.connection.broken(talk.now, "reset by peer");
  talk.take_events();
  ASSERT_EQ(talk.dropped.size(), 1U);
  EXPECT_EQ(talk.dropped[0].why, "reset by peer");
  talk.answer(text_response(200, "text/plain", ""));
  EXPECT_EQ(talk.answered.size(), 0U);
}

TEST(Connection, ItEndsAfterSoManyRequests) {
  Limits limits;
  limits.requests = 3;
  Talk talk(limits);
  talk.answers_at_once = true;
  for (int i = 0; i < 5; ++i) talk.send(kGet);
  EXPECT_EQ(statuses_in(talk.received), Statuses(3, "200"));
  EXPECT_TRUE(has(talk.received, "connection: close\r\n"));
}

TEST(Connection, WhatIsBegunIsAnsweredWhileItDrains) {
  Talk talk;
  talk.send(kGet + kGet);
  talk.connection.drain(talk.now);
  EXPECT_FALSE(talk.connection.has_ended_output());
  talk.answer(text_response(200, "text/plain", ""));
  EXPECT_EQ(statuses_in(talk.received), (Statuses{"200"}));
  EXPECT_TRUE(has(talk.received, "connection: close\r\n"));
  EXPECT_TRUE(talk.connection.has_ended_output());
  EXPECT_EQ(talk.requests.size(), 1U);
}

TEST(Connection, ADrainEndsWhatIsQuietOrLive) {
  Talk quiet;
  quiet.connection.drain(quiet.now);
  EXPECT_TRUE(quiet.connection.has_ended_output());
  Talk live;
  live.send(kGet);
  Response response = streamed(std::make_shared<ScriptedSource>());
  response.heartbeat = Heartbeat{":\n\n"};
  live.answer(std::move(response));
  live.connection.drain(live.now);
  live.turn();
  EXPECT_TRUE(live.received.ends_with("0\r\n\r\n")) << "a whole end, so the reader comes back";
  EXPECT_TRUE(live.connection.has_ended_output());
}

}  // namespace
}  // namespace lockstep::http
