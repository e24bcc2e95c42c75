#pragma once
// Measures a node's clock against the launcher's from heartbeats. A heartbeat gives four times:
// when the launcher made the newest acknowledgement, when that arrived at the node, when the node
// sent the heartbeat, and when the heartbeat arrived here. The two messages took `delay` together,
// so the offset is known to within half of it, whatever each of them took (RFC 5905 section 8). The
// sample with the shortest delay of the last kSamples is used. Reads no clock.

#include <array>
#include <cstddef>
#include <optional>

#include "common/domain/messages/agent_protocol.h"

namespace lockstep::launcher {

class ClockMeter {
 public:
  // Adds a measurement. `now`: when the heartbeat was received. A heartbeat without these times, or
  // with impossible ones, is ignored.
  void add(const Heartbeat& beat, Instant now);
  std::optional<ClockOffset> offset() const;  // nullopt: not measured yet

 private:
  static constexpr std::size_t kSamples = 16;

  std::array<ClockOffset, kSamples> samples_;  // the samples, as a ring
  std::size_t count_ = 0, next_ = 0;
};

}  // namespace lockstep::launcher
