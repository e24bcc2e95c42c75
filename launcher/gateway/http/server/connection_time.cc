// The deadlines of a connection: of its client, of its handler, and what happens when they pass.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "launcher/gateway/http/server/connection.h"

namespace lockstep::http {
namespace {

Problem slow_client(std::string detail) {
  Problem problem;
  problem.status = 408;
  problem.detail = std::move(detail);
  return problem;
}

}  // namespace

// How long to wait for the next byte of a body: a client that sends a byte now and then holds a
// handler for ever otherwise.
Duration Connection::body_patience() const {
  const Limits& limits = settings_.limits;
  constexpr std::uint64_t kMostEarned = 24 * 3600;
  const seconds earned(std::min(exchange_.bytes_in / limits.body_pace, kMostEarned));
  const Duration left = limits.body_grace + earned - exchange_.starved_for;
  return std::clamp<Duration>(left, Duration::zero(), limits.body_stall);
}

Instant Connection::reading_deadline() const {
  const Limits& limits = settings_.limits;
  switch (reading_) {
    case Reading::head: {
      // What is not written yet is judged by write_stall.
      if (writing_ != Writing::nothing || !output().empty()) return Instant::never();
      if (parser_.is_within_request()) return std::max(head_since_, output_since_) + limits.head;
      return std::max(idle_since_, output_since_) +
             (requests_ == 0 ? limits.first_byte : limits.idle);
    }
    case Reading::body:
      if (exchange_.starved_since) return *exchange_.starved_since + body_patience();
      return writing_ == Writing::nothing ? exchange_.owner_since + limits.answer
                                          : Instant::never();
    case Reading::complete:
      return writing_ == Writing::nothing ? exchange_.owner_since + limits.answer
                                          : Instant::never();
    case Reading::never: break;
  }
  return Instant::never();
}

Instant Connection::writing_deadline() const {
  const Limits& limits = settings_.limits;
  if (!output().empty()) return output_since_ + limits.write_stall;
  if (writing_ != Writing::source) return Instant::never();
  if (exchange_.heartbeat) return output_since_ + exchange_.heartbeat->every;
  return exchange_.owner_since + limits.answer;
}

Instant Connection::deadline() const {
  switch (ending_) {
    case Ending::no: return std::min(reading_deadline(), writing_deadline());
    case Ending::after_output: return writing_deadline();
    case Ending::lingering: return linger_until_;
    case Ending::over: break;
  }
  return Instant::never();
}

void Connection::expire(Instant now) {
  if (ending_ == Ending::over || now < deadline()) return;
  if (ending_ == Ending::lingering) {
    ending_ = Ending::over;
  } else if (now >= writing_deadline()) {
    expire_writing(now);
  } else {
    expire_reading(now);
  }
}

void Connection::expire_writing(Instant now) {
  if (output().empty() && exchange_.heartbeat && writing_ == Writing::source) {
    const std::string& beat = exchange_.heartbeat->bytes;
    const bool is_chunk = exchange_.framing == HeadFacts::Framing::chunked;
    append(now, is_chunk ? fmt::format("{:x}\r\n{}\r\n", beat.size(), beat) : beat);
    return;
  }
  if (is_exchange_open())
    drop(exchange_.status, output().empty() ? "the handler sent nothing of its answer for too long"
                                            : "the client read nothing for too long");
  ending_ = Ending::over;
}

void Connection::expire_reading(Instant now) {
  if (reading_ == Reading::head) {
    if (!parser_.is_within_request()) {
      ending_ = Ending::over;
      return;
    }
    return refuse(now, slow_client("the fields of the request did not come in time"));
  }
  if (reading_ == Reading::body && exchange_.starved_since)
    return refuse(now, slow_client("the body of the request did not come in time"));
  Problem problem;
  problem.status = 504;
  problem.detail = "the launcher did not answer in time; try again";
  refuse(now, problem);
}

}  // namespace lockstep::http
