#pragma once
// One HTTP/1.1 connection as a state machine without I/O: bytes and times in, events and bytes out.
// Requests are handled one after the other; pipelined ones wait as bytes, within Limits. It keeps
// every deadline of its client and its handler, and knows no socket, no TLS and no clock: its owner
// reads and writes (server.h), and calls next_event() until there is none after each thing that it
// tells it.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/base/time.h"
#include "launcher/gateway/http/message/limits.h"
#include "launcher/gateway/http/message/request_parser.h"
#include "launcher/gateway/http/message/response.h"

namespace lockstep::http {

// A request was read up to its body. The owner calls answer() once, now or later; before that it
// may call take_body() if the request has one. An answer before the body is complete ends the
// connection.
struct RequestBegun {
  Request request;
};
struct BodyReceived {
  std::string bytes;
};
struct BodyComplete {};  // only of a request that has a body
// The exchange is over: its answer was made as a whole and is on its way.
struct Answered {
  int status = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;  // of the bodies
};
// The exchange, or what should have become one, is over without the handler's whole answer: the
// client went or broke a limit or the protocol, or the handler was too slow. No answer() is
// allowed.
struct Dropped {
  bool was_begun = false;  // RequestBegun came before
  int status = 0;          // of the answer that was sent instead; 0: none
  std::string why;
};
using ConnectionEvent = std::variant<RequestBegun, BodyReceived, BodyComplete, Answered, Dropped>;

class Connection {
 public:
  struct Settings {
    Limits limits = {};
    Duration hsts{0};
  };
  Connection(const Settings& settings, Instant now);

  // ---- the client's bytes
  void received(Instant now, std::string_view bytes);
  void input_ended(Instant now);  // the client sends no more
  void broken(Instant now, std::string why);
  // Whether the socket should be read.
  bool wants_input() const;

  // ---- ours
  std::string_view output() const { return std::string_view(output_).substr(written_); }
  void wrote(Instant now, std::size_t bytes);
  // Whether all was written and the writing side should be ended. The connection reads on for a
  // while: closing at once could destroy what the client has not read yet.
  bool has_ended_output() const { return ending_ == Ending::lingering || ending_ == Ending::over; }
  bool is_over() const { return ending_ == Ending::over; }

  // ---- requests
  std::optional<ConnectionEvent> next_event(Instant now);
  // The body of the request that was begun is wanted, up to so many bytes; a longer one is refused.
  void take_body(Instant now, std::uint64_t at_most);
  // Whoever takes the body has no room now: no BodyReceived and no BodyComplete come.
  void hold_body(Instant now, bool hold);
  void answer(Instant now, Response response);
  void source_is_ready(Instant now);  // BodySource::on_ready
  // Ends when what was begun is answered; a live stream ends at once.
  void drain(Instant now);
  bool is_idle() const;  // between two requests, nothing to write

  // ---- time
  Instant deadline() const;
  void expire(Instant now);  // after the deadline has passed

 private:
  enum class Reading { head, body, complete, never };
  enum class Writing { nothing, source, complete };
  enum class Ending { no, after_output, lingering, over };

  std::optional<ConnectionEvent> read_head(Instant now);
  std::optional<ConnectionEvent> read_body(Instant now);
  void input_is_missing(Instant now);
  void refuse(Instant now, const Problem& problem);
  void drop(int status, std::string why);
  void write_answer(Instant now, Response response);
  HeadFacts::Framing framing_of(const Response& response) const;
  bool keeps_alive() const;
  void read_source(Instant now);
  bool write_piece(Instant now, const BodySource::Piece& piece);
  void end_answer(Instant now);
  void append(Instant now, std::string_view bytes);
  void end_after_output(Instant now);
  bool is_exchange_open() const { return is_begun_; }
  Duration body_patience() const;
  Instant reading_deadline() const;
  Instant writing_deadline() const;
  void expire_reading(Instant now);
  void expire_writing(Instant now);

  const Settings settings_;
  RequestParser parser_;
  std::deque<ConnectionEvent> events_;
  Reading reading_ = Reading::head;
  Writing writing_ = Writing::nothing;
  Ending ending_ = Ending::no;
  bool is_draining_ = false;
  bool has_input_ended_ = false;
  std::uint64_t requests_ = 0;

  // ---- the present exchange
  struct Exchange {
    Method method = Method::get;
    int minor_version = 1;
    bool wants_keep_alive = false;
    bool expects_continue = false;
    std::optional<std::uint64_t> content_length = {};
    bool is_body_taken = false;
    bool is_body_held = false;
    std::uint64_t most_body_bytes = 0;
    std::uint64_t bytes_in = 0, bytes_out = 0;
    Instant owner_since = {};                   // since when the owner is to do the next thing
    std::optional<Instant> starved_since = {};  // waits for bytes of the body
    Duration starved_for{0};                    // before that
    // ---- its answer
    int status = 0;
    bool closes = false;
    HeadFacts::Framing framing = HeadFacts::Framing::none;
    std::uint64_t length_left = 0;
    std::shared_ptr<BodySource> source = {};
    std::optional<Heartbeat> heartbeat = {};
  } exchange_;
  bool is_begun_ = false;  // exchange_ is one whose end has not been told

  std::string output_;
  std::size_t written_ = 0;
  Instant idle_since_;    // no request is begun
  Instant head_since_;    // the first byte of the present head came
  Instant output_since_;  // output was empty, or some of it was written
  Instant linger_until_;
};

}  // namespace lockstep::http
