#pragma once
// A connection with a client that sends what the test says, and a handler that the test plays.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/base/match.h"
#include "launcher/gateway/http/server/connection.h"

namespace lockstep::http::test {

inline constexpr Instant kBegin{1'700'000'000'000'000'000};

struct Talk {
  explicit Talk(const Limits& limits = {}) : connection({limits, Duration::zero()}, now) {}

  // The client's bytes; all that follows from them happens.
  void send(std::string_view bytes) {
    connection.received(now, bytes);
    turn();
  }
  void hang_up() {
    connection.input_ended(now);
    turn();
  }
  void pass(Duration time) {
    now = now + time;
    if (connection.deadline() <= now) connection.expire(now);
    turn();
  }
  void answer(Response response) {
    connection.answer(now, std::move(response));
    turn();
  }
  // The client reads all that is there.
  void turn() {
    for (;;) {
      take_events();
      if (is_client_stuck || connection.output().empty()) return;
      const std::size_t size = connection.output().size();
      received += connection.output();
      connection.wrote(now, size);
    }
  }
  void take_events() {
    while (auto event = connection.next_event(now)) {
      std::visit(Match{[&](RequestBegun& begun) {
                         requests.push_back(begun.request);
                         if (begun.request.has_body() && takes_bodies)
                           connection.take_body(now, most_body_bytes);
                         if (answers_at_once) connection.answer(now, at_once);
                       },
                       [&](BodyReceived& piece) { body += piece.bytes; },
                       [&](BodyComplete&) { ++complete_bodies; },
                       [&](Answered& how) { answered.push_back(how); },
                       [&](Dropped& how) { dropped.push_back(how); }},
                 *event);
    }
  }
  std::string take_received() { return std::exchange(received, ""); }

  Instant now = kBegin;
  Connection connection;
  bool takes_bodies = true, answers_at_once = false, is_client_stuck = false;
  std::uint64_t most_body_bytes = 1'000'000;
  Response at_once = text_response(200, "text/plain", "hello");
  std::vector<Request> requests;
  std::string body;
  int complete_bodies = 0;
  std::vector<Answered> answered;
  std::vector<Dropped> dropped;
  std::string received;  // by the client
};

// "HTTP/1.1 200": the status lines among these bytes, in their order.
inline std::vector<std::string> statuses_in(std::string_view bytes) {
  constexpr std::string_view kBefore = "HTTP/1.1 ";
  std::vector<std::string> statuses;
  for (std::size_t at = 0; (at = bytes.find(kBefore, at)) != std::string_view::npos;) {
    at += kBefore.size();
    statuses.emplace_back(bytes.substr(at, 3));
  }
  return statuses;
}
inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace lockstep::http::test
