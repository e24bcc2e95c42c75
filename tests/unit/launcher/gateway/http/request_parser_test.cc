#include "launcher/gateway/http/message/request_parser.h"

#include <gtest/gtest.h>

#include <variant>

#include "tests/unit/launcher/gateway/http/hostile_requests.h"

namespace lockstep::http {
namespace {

// What a parser made of some bytes, independent of how they came.
struct Reading {
  std::vector<Request> requests;
  std::vector<std::string> bodies;  // of those that ended
  std::string open_body;
  int status = 0;  // of the refusal; 0: none
  std::string why;
  bool is_within_request = false;
  friend bool operator==(const Reading&, const Reading&) = default;
};

void read_on(RequestParser& parser, Reading& reading) {
  for (;;) {
    auto step = parser.next();
    if (auto* request = std::get_if<Request>(&step)) {
      reading.requests.push_back(*request);
    } else if (auto* body = std::get_if<RequestParser::BodyBytes>(&step)) {
      EXPECT_FALSE(body->bytes.empty());
      reading.open_body += body->bytes;
    } else if (std::holds_alternative<RequestParser::BodyEnd>(step)) {
      reading.bodies.push_back(std::exchange(reading.open_body, ""));
    } else {
      if (const auto* problem = std::get_if<Problem>(&step)) {
        reading.status = problem->status;
        reading.why = problem->detail;
      }
      reading.is_within_request = parser.is_within_request();
      return;
    }
  }
}

Reading read_pieces(const std::vector<std::string_view>& pieces) {
  RequestParser parser{Limits{}};
  Reading reading;
  for (const std::string_view piece : pieces) {
    parser.feed(piece);
    read_on(parser, reading);
  }
  return reading;
}

Reading read_whole(std::string_view bytes) { return read_pieces({bytes}); }

Reading read_byte_by_byte(std::string_view bytes) {
  std::vector<std::string_view> pieces;
  for (std::size_t i = 0; i < bytes.size(); ++i) pieces.push_back(bytes.substr(i, 1));
  return read_pieces(pieces);
}

// Every position; of long texts some, for each costs the whole.
template <typename Check>
void cut_everywhere(std::string_view bytes, const Check& check) {
  constexpr std::size_t kShort = 2'000;
  const std::size_t step = bytes.size() < kShort ? 1 : 211;
  for (std::size_t at = 1; at < bytes.size(); at += step)
    check(read_pieces({bytes.substr(0, at), bytes.substr(at)}), at);
}

bool sees_hidden(const Reading& reading) {
  for (const Request& request : reading.requests)
    if (request.target.find("hidden") != std::string::npos) return true;
  return false;
}

TEST(HostileRequests, AreAtLeastAHundred) { EXPECT_GE(test::hostile_requests().size(), 100U); }

TEST(HostileRequests, AreRefusedHoweverTheyAreCut) {
  for (const auto& hostile : test::hostile_requests()) {
    SCOPED_TRACE(hostile.name);
    const std::string bytes = hostile.bytes + test::kHidden;
    const Reading whole = read_whole(bytes);
    EXPECT_EQ(whole.status, hostile.status) << whole.why;
    EXPECT_FALSE(sees_hidden(whole));
    EXPECT_LE(whole.requests.size(), 1U);
    EXPECT_TRUE(whole.bodies.empty()) << "its body ended";
    EXPECT_EQ(read_byte_by_byte(bytes).status, hostile.status);
    cut_everywhere(bytes, [&](const Reading& cut, std::size_t at) {
      ASSERT_EQ(cut.status, hostile.status) << "cut at " << at << ": " << cut.why;
      ASSERT_FALSE(sees_hidden(cut)) << "cut at " << at;
    });
  }
}

TEST(HostileRequests, NothingIsReadBehindARefusal) {
  RequestParser parser{Limits{}};
  parser.feed("GET / HTTP/9.9\r\n\r\n");
  Reading reading;
  read_on(parser, reading);
  EXPECT_EQ(reading.status, 505);
  parser.feed(test::kHidden);
  Reading later;
  read_on(parser, later);
  EXPECT_EQ(later.status, 505);
  EXPECT_TRUE(later.requests.empty());
  EXPECT_EQ(parser.buffered_bytes(), 0U) << "a refused client costs no memory";
}

TEST(HostileRequests, AreRefusedAsSoonAsTheyAreKnown) {
  for (const char* begin : {"\n", "GET / HTTP/1.1\n", "GET /\x01", "GET / HTTP/1.1\r\n ", "\x16"})
    EXPECT_EQ(read_whole(begin).status, 400) << begin;
  EXPECT_EQ(read_whole(std::string(9'000, 'G')).status, 414);
  EXPECT_EQ(read_whole(test::chunks("5;")).status, 400);
  EXPECT_EQ(read_whole(test::chunks("0\r\nX")).status, 400);
}

struct GoodRequest {
  std::string name;
  std::string bytes;
  std::vector<std::string> targets;
  std::vector<std::string> bodies;
};
std::vector<GoodRequest> good_requests() {
  const std::string one_get = test::get("");
  return {
      {"a GET", one_get, {"/"}, {""}},
      {"three at once", one_get + one_get + one_get, {"/", "/", "/"}, {"", "", ""}},
      {"a POST", test::post("Content-Length: 5\r\n", "hello"), {"/"}, {"hello"}},
      {"a POST and a GET",
       test::post("Content-Length: 5\r\n", "hello") + one_get,
       {"/", "/"},
       {"hello", ""}},
      {"a length of 0", test::post("Content-Length: 0\r\n", ""), {"/"}, {""}},
      {"a length with zeros in front",
       test::post("Content-Length: 005\r\n", "hello"),
       {"/"},
       {"hello"}},
      {"a body that looks like a request",
       test::post("Content-Length: " + std::to_string(test::kHidden.size()) + "\r\n",
                  test::kHidden),
       {"/"},
       {test::kHidden}},
      {"no chunks", test::chunks("0\r\n\r\n"), {"/"}, {""}},
      {"chunks", test::chunks("5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"), {"/"}, {"hello!"}},
      {"a chunk's size in both cases",
       test::chunks("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n"),
       {"/"},
       {"01234567890123456789"}},
      {"sizes with zeros in front", test::chunks("005\r\nhello\r\n000\r\n\r\n"), {"/"}, {"hello"}},
      {"a chunk with CR LF in it",
       test::chunks("7\r\na\r\n0\r\nb\r\n0\r\n\r\n"),
       {"/"},
       {"a\r\n0\r\nb"}},
      {"chunks and a GET", test::chunks("1\r\na\r\n0\r\n\r\n") + one_get, {"/", "/"}, {"a", ""}},
      {"a coding in another case",
       test::post("transfer-ENCODING: Chunked\r\n", "1\r\na\r\n0\r\n\r\n"),
       {"/"},
       {"a"}},
      {"a target with all that it may have",
       test::line("GET /a%20b/c;d=e?f=g&h=%22i%22#j HTTP/1.1"),
       {"/a%20b/c;d=e?f=g&h=%22i%22#j"},
       {""}},
      {"a target of 8,192 bytes",
       test::line("GET /" + std::string(8'191, 'a') + " HTTP/1.1"),
       {"/" + std::string(8'191, 'a')},
       {""}},
      {"95 fields", test::get(test::many_fields(95, 100)), {"/"}, {""}},
      {"bytes that are not ASCII in a value", test::get("X: \xc3\xa4\xff\r\n"), {"/"}, {""}},
      {"an empty value", test::get("X:\r\nY: \t \r\n"), {"/"}, {""}},
      {"HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\n\r\n", {"/"}, {""}},
  };
}

TEST(RequestParser, ReadsTheSameHoweverItIsCut) {
  for (const auto& good : good_requests()) {
    SCOPED_TRACE(good.name);
    const Reading whole = read_whole(good.bytes);
    EXPECT_EQ(whole.status, 0) << whole.why;
    std::vector<std::string> targets;
    for (const Request& request : whole.requests) targets.push_back(request.target);
    EXPECT_EQ(targets, good.targets);
    EXPECT_EQ(whole.bodies, good.bodies);
    EXPECT_FALSE(whole.is_within_request);
    EXPECT_EQ(read_byte_by_byte(good.bytes), whole);
    cut_everywhere(good.bytes, [&](const Reading& cut, std::size_t at) {
      ASSERT_EQ(cut, whole) << "cut at " << at << ": " << cut.why;
    });
  }
}

TEST(RequestParser, SaysWhatTheHeadSays) {
  const Reading reading = read_whole(
      "PUT /a?b HTTP/1.1\r\nHost: Example:80\r\nX-One: 1\r\nx-two:  2 \r\nExpect: 100-Continue\r\n"
      "Content-Length: 0\r\nConnection: close\r\n\r\n");
  ASSERT_EQ(reading.requests.size(), 1U) << reading.why;
  const Request& request = reading.requests[0];
  EXPECT_EQ(request.method, Method::put);
  EXPECT_EQ(request.target, "/a?b");
  EXPECT_EQ(request.host, "Example:80");
  EXPECT_EQ(request.headers.get("x-one"), "1");
  EXPECT_EQ(request.headers.get("x-two"), "2");
  EXPECT_EQ(request.headers.find("x-three"), nullptr);
  EXPECT_EQ(request.content_length, 0U);
  EXPECT_FALSE(request.has_body());
  EXPECT_TRUE(request.expects_continue);
  EXPECT_FALSE(request.wants_keep_alive);
}

TEST(RequestParser, KnowsWhichConnectionsGoOn) {
  const auto goes_on = [](const std::string& version, const std::string& fields) {
    const Reading reading =
        read_whole("GET / HTTP/" + version + "\r\nHost: a\r\n" + fields + "\r\n");
    return reading.requests.at(0).wants_keep_alive;
  };
  EXPECT_TRUE(goes_on("1.1", ""));
  EXPECT_TRUE(goes_on("1.1", "Connection: keep-alive\r\n"));
  EXPECT_FALSE(goes_on("1.1", "Connection: close\r\n"));
  EXPECT_FALSE(goes_on("1.1", "Connection: keep-alive, CLOSE\r\n"));
  EXPECT_FALSE(goes_on("1.0", "Connection: keep-alive\r\n")) << "HTTP/1.0 ends after one answer";
  EXPECT_TRUE(goes_on("1.1", "Upgrade: h2c\r\nConnection: Upgrade\r\n")) << "and is not upgraded";
}

TEST(RequestParser, AHugeBodyIsHandedOverInPieces) {
  RequestParser parser{Limits{}};
  parser.feed(test::post("Content-Length: 10000000\r\n", ""));
  Reading reading;
  read_on(parser, reading);
  ASSERT_EQ(reading.requests.size(), 1U);
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_TRUE(reading.bodies.empty());
    parser.feed(std::string(10'000, 'x'));
    read_on(parser, reading);
    EXPECT_EQ(parser.buffered_bytes(), 0U);
  }
  ASSERT_EQ(reading.bodies.size(), 1U);
  EXPECT_EQ(reading.bodies[0].size(), 10'000'000U);
}

}  // namespace
}  // namespace lockstep::http
