#include "runner/fabric/probe/path_test.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace lockstep::runner {
namespace {

// Random bytes for packets, so that no device on the way can compress them.
const std::string& filling() {
  static const std::string kBytes = [] {
    std::string bytes(64u << 10, '\0');
    std::uint64_t state = 0x9e3779b97f4a7c15U;
    for (char& byte : bytes) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      byte = static_cast<char>(state);
    }
    return bytes;
  }();
  return kBytes;
}

}  // namespace

PathState path_state_of(int error) {
  switch (error) {
    case ETIMEDOUT: return PathState::timed_out;
    case ECONNREFUSED:
    case ECONNRESET:
    case EACCES:
    case EPERM: return PathState::refused;
    default: return PathState::no_route;
  }
}

// ---- the dialling side -------------------------------------------------------------------------

PathTest::PathTest(std::string key, TalkHello hello, const PathLoad& load, Instant now)
    : key_(std::move(key)), hello_(std::move(hello)), load_(load), deadline_(now + kDialWithin) {}

void PathTest::connected(Instant now) {
  if (step_ != Step::dialling) return;
  step_ = Step::greeting;
  out_ = encode_hello(hello_);
  deadline_ = now + kAnswerWithin;
}

void PathTest::failed(int error) {
  if (!is_over()) end(path_state_of(error));
}

// Handles a closed connection. A peer that closes before it has proved who it is does not count as
// the node.
void PathTest::closed() {
  if (is_over()) return;
  end(step_ <= Step::greeting ? PathState::other_host : PathState::timed_out);
}

void PathTest::expire(Instant now) {
  if (is_over() || now < deadline_) return;
  switch (step_) {
    case Step::dialling:
    case Step::greeting:
    case Step::pinging: return end(PathState::timed_out);
    case Step::segments: return end(PathState::large_packets_lost);
    case Step::bursting: return end(PathState::reached);  // slow, but it works
    case Step::over: return;
  }
}

void PathTest::end(PathState state) {
  step_ = Step::over;
  state_ = state;
  out_.clear();
  unsent_ = 0;
}

std::string_view PathTest::to_send() const {
  if (!out_.empty()) return out_;
  return std::string_view(filling()).substr(0, unsent_);
}

void PathTest::sent(std::size_t count) {
  if (!out_.empty())
    out_.erase(0, count);
  else
    unsent_ -= static_cast<std::uint32_t>(std::min<std::size_t>(count, unsent_));
}

void PathTest::ping(Instant now) {
  awaited_ = {TalkOrder::Kind::ping, static_cast<std::uint32_t>(pings_)};
  out_ += encode_order(awaited_);
  since_ = now;
  deadline_ = now + kAnswerWithin;
}

void PathTest::fill(Instant now, Step step, std::uint32_t count, Duration within) {
  step_ = step;
  awaited_ = {TalkOrder::Kind::data, count};
  out_ += encode_order(awaited_);
  unsent_ = count;
  since_ = now;
  deadline_ = now + within;
}

void PathTest::received(Instant now, std::string_view bytes) {
  in_ += bytes;
  while (!is_over()) {
    const std::size_t whole = step_ == Step::greeting ? kAnswerBytes : kOrderBytes;
    if (in_.size() < whole) return;
    if (step_ == Step::greeting)
      take_answer(now);
    else
      take_order(now);
    in_.erase(0, whole);
  }
}

void PathTest::take_answer(Instant now) {
  const std::string_view answer = std::string_view(in_).substr(0, kAnswerBytes);
  if (!is_answer(key_, hello_, answer)) return end(PathState::other_host);
  if (hello_.greets_only) return end(PathState::reached);
  out_ = make_proof(key_, hello_, answer);
  step_ = Step::pinging;
  ping(now);
}

void PathTest::take_order(Instant now) {
  const auto order = decode_order(std::string_view(in_).substr(0, kOrderBytes));
  if (order != awaited_) return end(PathState::other_host);
  const Duration took = std::max<Duration>(now - since_, Duration(1));
  if (step_ == Step::pinging) {
    round_trip_ = pings_ == 0 ? took : std::min(round_trip_, took);
    if (++pings_ < load_.round_trips) return ping(now);
    return fill(now, Step::segments, load_.segments,
                kSegmentsWithin + kTripsOfSegments * round_trip_);
  }
  if (step_ == Step::segments && load_.burst)
    return fill(now, Step::bursting, kBurstBytes, kBurstWithin);
  if (step_ == Step::bursting)
    speed_mbps_ = static_cast<std::int64_t>(kBurstBytes) * 8'000 / took.count();
  end(PathState::reached);
}

// ---- the answering side ------------------------------------------------------------------------

PathAnswer::PathAnswer(std::string key, int self, std::string nonce)
    : key_(std::move(key)), self_(self), nonce_(std::move(nonce)) {}

void PathAnswer::received(std::string_view bytes) {
  while (!bytes.empty() && step_ != Step::broken) {
    if (step_ == Step::data) {
      const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(bytes.size(), missing_));
      bytes.remove_prefix(count);
      missing_ -= count;
      if (missing_ > 0) return;
      out_ += encode_order(order_);
      step_ = Step::orders;
      continue;
    }
    const std::size_t whole = step_ == Step::hello   ? kHelloBytes
                              : step_ == Step::proof ? kProofBytes
                                                     : kOrderBytes;
    const std::size_t count = std::min(bytes.size(), whole - in_.size());
    in_ += bytes.substr(0, count);
    bytes.remove_prefix(count);
    if (in_.size() < whole) return;
    take_whole();
    in_.clear();
  }
}

void PathAnswer::take_whole() {
  if (step_ == Step::hello) {
    const auto hello = decode_hello(in_);
    step_ = Step::broken;
    if (!hello || hello->to != self_ || hello->from < 0) return;
    hello_ = *hello;
    answer_ = make_answer(key_, hello_, nonce_);
    out_ += answer_;
    step_ = Step::proof;
    return;
  }
  if (step_ == Step::proof) {
    step_ = in_ == make_proof(key_, hello_, answer_) ? Step::orders : Step::broken;
    return;
  }
  const auto order = decode_order(in_);
  step_ = Step::broken;
  if (!order) return;
  order_ = *order;
  if (order_.kind == TalkOrder::Kind::ping) {
    out_ += encode_order(order_);
    step_ = Step::orders;
    return;
  }
  taken_ += order_.value;
  if (order_.value == 0 || taken_ > kMostDataOfPath) return;
  missing_ = order_.value;
  step_ = Step::data;
}

}  // namespace lockstep::runner
