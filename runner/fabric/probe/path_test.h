#pragma once
// The dialling side of one connection of a probe: what to send next, and the result. The caller
// owns the socket and reports its events. No input, output or clock here.
//
// A test greets, measures some round trips, then sends more than one full-size segment, and a burst
// if that was ordered. If small messages pass and full segments do not, the path is an MTU black
// hole: a router drops them without an error. With Hello::greets_only it only greets.

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/domain/runners/probe_protocol.h"
#include "runner/fabric/probe/talk.h"

namespace lockstep::runner {

// The time for dialling: the kernel sends SYN again after 1 s and 3 s, and reports after about 3 s
// that no neighbour answers.
inline constexpr Duration kDialWithin = milliseconds(3'500);
inline constexpr Duration kAnswerWithin = milliseconds(3'000);  // the time for each small message
// The time for segments: several times the kernel's pause before it sends a lost segment again, in
// addition to the round trips for the bytes.
inline constexpr Duration kSegmentsWithin = milliseconds(1'200);
inline constexpr int kTripsOfSegments = 4;
inline constexpr Duration kBurstWithin = milliseconds(2'000);
inline constexpr int kRoundTrips = 3;
inline constexpr std::uint32_t kSegmentsBytes = 16u << 10;  // more than one segment of 9,000 bytes
inline constexpr std::uint32_t kBurstBytes = 1u << 20;

// The bytes that a test sends after the greeting.
struct PathLoad {
  std::uint32_t segments = kSegmentsBytes;  // bytes
  bool burst = false;
  int round_trips = kRoundTrips;
};

class PathTest {
 public:
  PathTest(std::string key, TalkHello hello, const PathLoad& load, Instant now);

  void connected(Instant now);
  void failed(int error);  // `error`: the errno of the connection
  void closed();           // the other side closed the connection
  void received(Instant now, std::string_view bytes);
  void expire(Instant now);
  // "": nothing now.
  std::string_view to_send() const;
  void sent(std::size_t count);

  bool is_over() const { return step_ == Step::over; }
  // Whether small messages pass and full segments do not; the largest packet that passes is then
  // searched.
  bool lost_large_packets() const { return state_ == PathState::large_packets_lost; }
  Instant deadline() const { return is_over() ? Instant::never() : deadline_; }
  PathState state() const { return state_; }
  Duration round_trip() const { return round_trip_; }  // zero: not measured
  std::int64_t speed_mbps() const { return speed_mbps_; }

 private:
  enum class Step { dialling, greeting, pinging, segments, bursting, over };
  void end(PathState state);
  void ping(Instant now);
  void fill(Instant now, Step step, std::uint32_t count, Duration within);
  void take_answer(Instant now);
  void take_order(Instant now);

  const std::string key_;
  const TalkHello hello_;
  const PathLoad load_;
  Step step_ = Step::dialling;
  PathState state_ = PathState::timed_out;
  Instant deadline_, since_;
  std::string in_, out_;
  std::uint32_t unsent_ = 0;  // the unsent bytes of data
  TalkOrder awaited_;
  int pings_ = 0;
  Duration round_trip_{0};
  std::int64_t speed_mbps_ = -1;
};

// The state of a path after this error of connect(2).
PathState path_state_of(int error);

// The answering side of one connection.
class PathAnswer {
 public:
  PathAnswer(std::string key, int self, std::string nonce);

  void received(std::string_view bytes);
  std::string_view to_send() const { return out_; }
  void sent(std::size_t count) { out_.erase(0, count); }
  // True if the other side is not a node of this probe, or breaks the protocol: the caller must
  // close the connection.
  bool is_broken() const { return step_ == Step::broken; }

 private:
  enum class Step { hello, proof, orders, data, broken };
  void take_whole();

  const std::string key_;
  const int self_;
  const std::string nonce_;
  Step step_ = Step::hello;
  TalkHello hello_;
  std::string answer_, in_, out_;
  TalkOrder order_;
  std::uint32_t missing_ = 0;  // the missing bytes of data
  std::uint64_t taken_ = 0;
};
inline constexpr std::uint64_t kMostDataOfPath = 4u << 20;

}  // namespace lockstep::runner
