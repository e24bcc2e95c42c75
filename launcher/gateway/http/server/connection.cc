#include "launcher/gateway/http/server/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "launcher/gateway/http/message/status.h"

namespace lockstep::http {
namespace {

constexpr std::size_t kPieceBytes = 32 << 10;

}  // namespace

Connection::Connection(const Settings& settings, Instant now)
    : settings_(settings),
      parser_(settings.limits),
      idle_since_(now),
      head_since_(now),
      output_since_(now) {}

// ---- bytes ------------------------------------------------------------------------------------

void Connection::received(Instant now, std::string_view bytes) {
  if (bytes.empty() || ending_ != Ending::no || reading_ == Reading::never) return;
  if (exchange_.starved_since) {
    exchange_.starved_for += now - *exchange_.starved_since;
    exchange_.starved_since.reset();
  }
  if (reading_ == Reading::head && !parser_.is_within_request()) head_since_ = now;
  parser_.feed(bytes);
}

void Connection::input_ended(Instant now) {
  has_input_ended_ = true;
  if (ending_ == Ending::lingering) ending_ = Ending::over;
  // Nobody reads a live stream whose reader has gone; other answers may be wanted still.
  if (is_exchange_open() && exchange_.heartbeat) {
    drop(exchange_.status, "the client went");
    ending_ = Ending::over;
  }
  if (ending_ == Ending::no && reading_ == Reading::head && !parser_.is_within_request())
    end_after_output(now);
}

void Connection::broken(Instant, std::string why) {
  if (is_exchange_open()) drop(exchange_.status, std::move(why));
  ending_ = Ending::over;
}

bool Connection::wants_input() const {
  if (has_input_ended_ || ending_ == Ending::over) return false;
  if (ending_ != Ending::no || reading_ == Reading::never) return true;  // and forgets it
  return parser_.buffered_bytes() < settings_.limits.input_bytes;
}

void Connection::append(Instant now, std::string_view bytes) {
  if (output().empty()) {
    output_.clear();
    written_ = 0;
    output_since_ = now;
  }
  output_.append(bytes);
}

void Connection::wrote(Instant now, std::size_t bytes) {
  CHECK(bytes <= output().size(), "more was written than there is");
  written_ += bytes;
  output_since_ = now;
  if (written_ > kPieceBytes && written_ > output_.size() / 2) {
    output_.erase(0, written_);
    written_ = 0;
  }
  read_source(now);
  if (!output().empty() || writing_ == Writing::source) return;
  if (ending_ == Ending::after_output || (is_draining_ && is_idle())) end_after_output(now);
}

void Connection::end_after_output(Instant now) {
  reading_ = Reading::never;
  ending_ = Ending::after_output;
  if (!output().empty()) return;
  ending_ = has_input_ended_ ? Ending::over : Ending::lingering;
  linger_until_ = now + settings_.limits.linger;
}

// ---- requests ---------------------------------------------------------------------------------

std::optional<ConnectionEvent> Connection::next_event(Instant now) {
  if (events_.empty() && ending_ == Ending::no) {
    const bool has_room = output().size() < settings_.limits.output_bytes;
    if (reading_ == Reading::head && writing_ == Writing::nothing && has_room) {
      if (auto event = read_head(now)) return event;
    } else if (reading_ == Reading::body && exchange_.is_body_taken && !exchange_.is_body_held) {
      if (auto event = read_body(now)) return event;
    }
  }
  if (events_.empty()) return std::nullopt;
  ConnectionEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

std::optional<ConnectionEvent> Connection::read_head(Instant now) {
  RequestParser::Step step = parser_.next();
  if (auto* request = std::get_if<Request>(&step)) {
    ++requests_;
    exchange_ = {};
    exchange_.method = request->method;
    exchange_.minor_version = request->minor_version;
    exchange_.wants_keep_alive = request->wants_keep_alive;
    exchange_.expects_continue = request->expects_continue;
    exchange_.content_length = request->content_length;
    exchange_.owner_since = now;
    is_begun_ = true;
    reading_ = Reading::body;
    if (!request->has_body()) {
      CHECK(std::holds_alternative<RequestParser::BodyEnd>(parser_.next()),
            "the parser found a body that its own head denies");
      reading_ = Reading::complete;
    }
    return RequestBegun{std::move(*request)};
  }
  if (const auto* problem = std::get_if<Problem>(&step)) {
    refuse(now, *problem);
  } else if (has_input_ended_) {
    end_after_output(now);
  }
  return std::nullopt;
}

std::optional<ConnectionEvent> Connection::read_body(Instant now) {
  RequestParser::Step step = parser_.next();
  if (auto* body = std::get_if<RequestParser::BodyBytes>(&step)) {
    exchange_.owner_since = now;
    exchange_.bytes_in += body->bytes.size();
    if (exchange_.bytes_in <= exchange_.most_body_bytes)
      return BodyReceived{std::move(body->bytes)};
    Problem problem;
    problem.status = 413;
    problem.detail = fmt::format("the body is longer than {} bytes", exchange_.most_body_bytes);
    refuse(now, problem);
    return std::nullopt;
  }
  if (std::holds_alternative<RequestParser::BodyEnd>(step)) {
    reading_ = Reading::complete;
    exchange_.owner_since = now;
    return BodyComplete{};
  }
  if (const auto* problem = std::get_if<Problem>(&step))
    refuse(now, *problem);
  else
    input_is_missing(now);
  return std::nullopt;
}

void Connection::input_is_missing(Instant now) {
  if (!has_input_ended_) {
    if (!exchange_.starved_since) exchange_.starved_since = now;
    return;
  }
  drop(0, "the client went before its request was complete");
  ending_ = Ending::over;
}

void Connection::take_body(Instant now, std::uint64_t at_most) {
  if (!is_exchange_open()) return;
  CHECK(reading_ == Reading::body && !exchange_.is_body_taken, "there is no body to take");
  exchange_.most_body_bytes = at_most;
  if (exchange_.content_length.value_or(0) > at_most) {
    Problem problem;
    problem.status = 413;
    problem.detail = fmt::format("the body has {} bytes; at most {} are taken here",
                                 *exchange_.content_length, at_most);
    return refuse(now, problem);
  }
  exchange_.is_body_taken = true;
  exchange_.owner_since = now;
  if (exchange_.expects_continue && parser_.buffered_bytes() == 0)
    append(now, "HTTP/1.1 100 Continue\r\n\r\n");
}

void Connection::hold_body(Instant now, bool hold) {
  exchange_.is_body_held = hold;
  exchange_.owner_since = now;
  if (hold && exchange_.starved_since) {
    exchange_.starved_for += now - *exchange_.starved_since;
    exchange_.starved_since.reset();
  }
}

// The request cannot be read on: what follows is no request, or one that we do not want.
void Connection::refuse(Instant now, const Problem& problem) {
  if (!is_begun_) exchange_ = {};
  const bool has_answered = writing_ != Writing::nothing;
  drop(has_answered ? exchange_.status : problem.status, problem.detail);
  reading_ = Reading::never;
  if (has_answered) {
    ending_ = Ending::over;
    return;
  }
  exchange_.closes = true;
  write_answer(now, problem_response(problem));
  end_after_output(now);
}

void Connection::drop(int status, std::string why) {
  events_.push_back(Dropped{is_begun_, status, std::move(why)});
  is_begun_ = false;
  exchange_.source.reset();
  exchange_.heartbeat.reset();
  exchange_.starved_since.reset();
}

void Connection::drain(Instant now) {
  is_draining_ = true;
  // Its reader comes back, to the next gateway, and says where to go on.
  if (is_exchange_open() && exchange_.heartbeat) {
    exchange_.closes = true;
    end_answer(now);
  }
  if (is_idle()) end_after_output(now);
}

bool Connection::is_idle() const {
  return ending_ == Ending::no && reading_ == Reading::head && !parser_.is_within_request() &&
         output().empty();
}

// ---- answers ----------------------------------------------------------------------------------

void Connection::answer(Instant now, Response response) {
  if (!is_exchange_open()) return;  // the owner has not read of it yet
  CHECK(writing_ == Writing::nothing, "a request is answered once");
  exchange_.closes = response.closes || !keeps_alive();
  write_answer(now, std::move(response));
}

bool Connection::keeps_alive() const {
  return exchange_.wants_keep_alive && reading_ == Reading::complete && !is_draining_ &&
         (!has_input_ended_ || parser_.is_within_request()) &&
         requests_ < settings_.limits.requests;
}

HeadFacts::Framing Connection::framing_of(const Response& response) const {
  if (is_bodiless(response.status)) return HeadFacts::Framing::none;
  if (!response.source || response.length) return HeadFacts::Framing::length;
  return exchange_.minor_version == 0 ? HeadFacts::Framing::until_close
                                      : HeadFacts::Framing::chunked;
}

void Connection::write_answer(Instant now, Response response) {
  CHECK(response.status >= 200, "an interim answer is no answer");
  exchange_.status = response.status;
  exchange_.framing = framing_of(response);
  exchange_.length_left = response.source ? response.length.value_or(0) : response.body.size();
  append(now, write_head(response, {now, exchange_.framing, exchange_.length_left, exchange_.closes,
                                    settings_.hsts}));
  const bool has_body =
      exchange_.framing != HeadFacts::Framing::none && exchange_.method != Method::head;
  if (!has_body) return end_answer(now);
  writing_ = Writing::source;
  if (exchange_.framing != HeadFacts::Framing::length)
    exchange_.heartbeat = std::move(response.heartbeat);
  exchange_.source = std::move(response.source);
  if (!exchange_.source) exchange_.source = std::make_shared<TextSource>(std::move(response.body));
  exchange_.owner_since = now;
  read_source(now);
}

void Connection::source_is_ready(Instant now) {
  if (writing_ == Writing::source) read_source(now);
}

void Connection::read_source(Instant now) {
  while (writing_ == Writing::source && exchange_.source && ending_ != Ending::over &&
         output().size() < settings_.limits.output_bytes) {
    const std::size_t room = settings_.limits.output_bytes - output().size();
    // Held, because a failed answer forgets it.
    const std::shared_ptr<BodySource> source = exchange_.source;
    if (!write_piece(now, source->read(std::min(room, kPieceBytes)))) return;
  }
}

// False: there is nothing more for now.
bool Connection::write_piece(Instant now, const BodySource::Piece& piece) {
  const bool is_counted = exchange_.framing == HeadFacts::Framing::length;
  const std::size_t size = piece.bytes.size();
  const bool ends = piece.state == BodySource::State::end;
  const bool is_whole =
      !is_counted || (size <= exchange_.length_left && (!ends || size == exchange_.length_left));
  if (!is_whole || piece.state == BodySource::State::failed) {
    drop(exchange_.status, "the rest of the answer could not be had");
    ending_ = Ending::over;  // the client sees that its end is missing
    return false;
  }
  if (size > 0) {
    const bool is_chunk = exchange_.framing == HeadFacts::Framing::chunked;
    if (is_chunk) append(now, fmt::format("{:x}\r\n", size));
    append(now, piece.bytes);
    if (is_chunk) append(now, "\r\n");
    exchange_.bytes_out += size;
    exchange_.length_left -= is_counted ? size : 0;
    exchange_.owner_since = now;
  }
  if (ends) end_answer(now);
  return piece.state == BodySource::State::more;
}

// The whole answer has been made. The next request begins when this one was read as a whole.
void Connection::end_answer(Instant now) {
  if (writing_ == Writing::source && exchange_.framing == HeadFacts::Framing::chunked)
    append(now, "0\r\n\r\n");
  writing_ = Writing::complete;
  exchange_.source.reset();
  exchange_.heartbeat.reset();
  if (is_begun_) {
    events_.push_back(Answered{exchange_.status, exchange_.bytes_in, exchange_.bytes_out});
    is_begun_ = false;
  }
  if (exchange_.closes || reading_ != Reading::complete) return end_after_output(now);
  reading_ = Reading::head;
  writing_ = Writing::nothing;
  idle_since_ = head_since_ = now;
}

}  // namespace lockstep::http
