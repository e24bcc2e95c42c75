// What goes out: heads, problems, events, and the line in the access log.

#include "launcher/gateway/http/message/response.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launcher/gateway/http/message/event_stream.h"
#include "launcher/gateway/http/message/problem.h"
#include "launcher/gateway/http/message/status.h"
#include "launcher/gateway/http/server/access_log.h"

namespace lockstep::http {
namespace {

constexpr Instant kNow{784'111'777'000'000'000};  // of the example in RFC 9110 §5.6.7

std::string head_of(const Response& response, HeadFacts facts = {}) {
  facts.now = kNow;
  return write_head(response, facts);
}
bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST(ResponseHead, SaysWhatItMust) {
  const std::string head = head_of(text_response(200, "text/plain", "hello"),
                                   {{}, HeadFacts::Framing::length, 5, true, seconds(60)});
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
      << head;
  EXPECT_TRUE(contains(head, "\r\ncontent-type: text/plain\r\n"));
  EXPECT_TRUE(contains(head, "\r\ncontent-length: 5\r\n"));
  EXPECT_TRUE(contains(head, "\r\nconnection: close\r\n"));
  EXPECT_TRUE(contains(head, "\r\nstrict-transport-security: max-age=60\r\n"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  EXPECT_FALSE(contains(head_of(empty_response(200)), "strict-transport-security"));
}

TEST(ResponseHead, ProtectsBrowsersWhateverAHandlerForgets) {
  for (const ContentPolicy policy :
       {ContentPolicy::data, ContentPolicy::page, ContentPolicy::untrusted}) {
    Response response = empty_response(200);
    response.policy = policy;
    const std::string head = head_of(response);
    for (const char* field :
         {"content-security-policy: default-src 'none';", "x-content-type-options: nosniff",
          "cross-origin-resource-policy: same-origin", "cross-origin-opener-policy: same-origin",
          "referrer-policy: no-referrer", "cache-control: no-store", "x-frame-options: "})
      EXPECT_TRUE(contains(head, std::string("\r\n") + field)) << field;
    EXPECT_FALSE(contains(head, "access-control-")) << "no other origin may read";
    EXPECT_FALSE(contains(head, "script-src 'unsafe"));
    EXPECT_FALSE(contains(head, "\r\nserver:"));
  }
  Response untrusted = empty_response(200);
  untrusted.policy = ContentPolicy::untrusted;
  EXPECT_TRUE(contains(head_of(untrusted), "; sandbox\r\n"));
  EXPECT_FALSE(contains(head_of(untrusted), "script-src"));
}

TEST(ResponseHead, AHandlersCachingHolds) {
  Response response = empty_response(200);
  response.headers.add("Cache-Control", "max-age=60");
  const std::string head = head_of(response);
  EXPECT_TRUE(contains(head, "cache-control: max-age=60\r\n"));
  EXPECT_FALSE(contains(head, "no-store"));
}

TEST(ResponseHead, NoValueMakesAField) {
  Response response = empty_response(200);
  response.headers.add("x-name", std::string("a\r\nset-cookie: b=c\r\n\r\n<script>\0\x7f", 32));
  const std::string head = head_of(response);
  EXPECT_FALSE(contains(head, "\r\nset-cookie"));
  EXPECT_EQ(head.find("\r\n\r\n"), head.size() - 4);
  EXPECT_EQ(head.find('\0'), std::string::npos);
}

TEST(Status, EachHasAPhrase) {
  for (const int status : {200, 206, 304, 400, 401, 403, 404, 405, 408, 413, 414,
                           415, 416, 417, 421, 429, 431, 500, 501, 503, 504, 505})
    EXPECT_FALSE(reason_phrase(status).empty()) << status;
  EXPECT_EQ(reason_phrase(299), "");
}

TEST(Disposition, NamesAreQuotedAndEncoded) {
  EXPECT_EQ(attachment_disposition("model.pt"),
            "attachment; filename=\"model.pt\"; filename*=UTF-8''model.pt");
  EXPECT_EQ(attachment_disposition("a\"b\\c/d\r\n\xc3\xa4"),
            "attachment; filename=\"a_b_c_d____\"; filename*=UTF-8''a%22b%5Cc%2Fd%0D%0A%C3%A4");
}

TEST(ProblemTest, IsAnObjectOfRfc9457) {
  Problem problem = problem_of(make_error(ErrorCode::not_found, "there is no job 'x'"));
  EXPECT_EQ(problem.status, 404);
  problem.members = {{"job", "x"}, {"status", "a member cannot replace one of the RFC's"}};
  const auto json = nlohmann::json::parse(problem_json(problem));
  EXPECT_EQ(json["status"], 404);
  EXPECT_EQ(json["title"], "Not Found");
  EXPECT_EQ(json["detail"], "there is no job 'x'");
  EXPECT_EQ(json["code"], "not_found");
  EXPECT_EQ(json["job"], "x");
  const Response response = problem_response(problem);
  EXPECT_EQ(response.headers.get("content-type"), "application/problem+json");
}

TEST(ProblemTest, WhatIsNoUtf8IsReplaced) {
  Problem problem;
  problem.detail = "there is no job '\xff\xfe'";
  EXPECT_TRUE(contains(problem_json(problem), "\xef\xbf\xbd"));
}

TEST(ProblemTest, SaysWhenToComeAgain) {
  EXPECT_EQ(problem_of(make_error(ErrorCode::unavailable, "")).headers.get("retry-after"), "1");
  EXPECT_EQ(problem_of(make_error(ErrorCode::conflict, "")).headers.get("retry-after"), "");
  for (int code = 0; code <= static_cast<int>(kLastErrorCode); ++code)
    EXPECT_GE(status_of(static_cast<ErrorCode>(code)), 400);
}

TEST(Event, ItsLinesCannotBeSomethingElse) {
  EXPECT_EQ(serialize({"7", "log", "hello"}), "id: 7\nevent: log\ndata: hello\n\n");
  EXPECT_EQ(serialize({"", "", "a\nb\r\nc\rd"}), "data: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(serialize({"1\ndata: x", "a\r\nid: 9", ""}),
            "id: 1 data: x\nevent: a  id: 9\ndata: \n\n");
  EXPECT_EQ(serialize({"", "", "\n"}), "data: \ndata: \n\n");
}

std::string drain(EventStream& stream, std::size_t at_most = 1'000'000) {
  std::string all;
  for (;;) {
    const auto piece = stream.read(at_most);
    all += piece.bytes;
    if (piece.state != BodySource::State::more) return all;
  }
}

TEST(EventStreamTest, AReaderIsWokenOnce) {
  EventStream stream;
  int woken = 0;
  stream.on_ready([&] { ++woken; });
  EXPECT_TRUE(stream.offer({"", "", "before it is asked"}));
  EXPECT_EQ(woken, 0);
  EXPECT_EQ(drain(stream), "data: before it is asked\n\n");
  EXPECT_TRUE(stream.offer({"", "", "a"}));
  EXPECT_TRUE(stream.offer({"", "", "b"}));
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(drain(stream), "data: a\n\ndata: b\n\n");
}

TEST(EventStreamTest, ASlowReaderHoldsItsOriginBack) {
  EventStream stream(100);
  int room = 0;
  stream.on_room([&] { ++room; });
  const ServerSentEvent event{"", "", std::string(32, 'x')};  // 40 bytes
  EXPECT_TRUE(stream.offer(event));
  EXPECT_TRUE(stream.offer(event));
  EXPECT_FALSE(stream.offer(event));
  EXPECT_EQ(stream.waiting_bytes(), 80U);
  EXPECT_EQ(stream.read(20).bytes.size(), 20U);
  EXPECT_EQ(room, 0);
  EXPECT_EQ(stream.read(20).bytes.size(), 20U);
  EXPECT_EQ(room, 1);
  EXPECT_TRUE(stream.offer(event));
  drain(stream);
  EXPECT_EQ(room, 1) << "only after a refusal";
}

TEST(EventStreamTest, AnEventLargerThanTheRoomGoesAlone) {
  EventStream stream(100);
  EXPECT_TRUE(stream.offer({"", "", std::string(1'000, 'x')}));
  EXPECT_FALSE(stream.offer({"", "", "y"}));
}

TEST(EventStreamTest, EndsWithWhatWaits) {
  EventStream stream;
  stream.offer({"", "", "last"});
  stream.finish(milliseconds(1'500));
  EXPECT_FALSE(stream.offer({"", "", "later"}));
  const auto piece = stream.read(1'000);
  EXPECT_EQ(piece.bytes, "data: last\n\nretry: 1500\n\n");
  EXPECT_EQ(piece.state, BodySource::State::end);
}

AccessRecord some_record() {
  AccessRecord record;
  record.began = kNow;
  record.took = milliseconds(12);
  record.address = "10.0.0.1";
  record.connection = 7;
  record.request = 3;
  record.user = "ann";
  record.method = "GET";
  record.path = "/api/v1/jobs";
  record.status = 200;
  record.bytes_out = 81;
  return record;
}

TEST(AccessLog, IsOneLineOfWords) {
  EXPECT_EQ(access_line(some_record()),
            "1994-11-06T08:49:37.000Z 10.0.0.1 c7/3 ann GET /api/v1/jobs 200 in=0 out=81 12ms");
  AccessRecord dropped = some_record();
  dropped.address = dropped.user = dropped.method = dropped.path = "";
  dropped.status = 400;
  dropped.dropped = "a LF stands without CR";
  EXPECT_EQ(access_line(dropped),
            "1994-11-06T08:49:37.000Z unix c7/3 - - - 400 in=0 out=81 12ms dropped: a LF stands "
            "without CR");
}

TEST(AccessLog, NobodyForgesAWordOrALine) {
  AccessRecord record = some_record();
  record.user = "ann GET\n2026";
  record.path = "/a\x1b[31m\xe2\x80\xae" + std::string(5'000, 'x');
  const std::string line = access_line(record);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(line.begin(), line.end(), ' '), 9);
  EXPECT_LT(line.size(), 600U);
}

}  // namespace
}  // namespace lockstep::http
