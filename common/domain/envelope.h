#pragma once
// Shared by the protocols of the control and join sockets. Each protocol is a pair of types: what
// its peers may say to the launcher, and what the launcher answers (agent_messages.h,
// client_messages.h, join_messages.h). common/wire encodes them; daemons, agents and clients build
// and read only these. Requests are idempotent: request, reply or both may be lost, doubled or
// late, and asking again is always safe.

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/result.h"

namespace lockstep {

inline constexpr std::uint32_t kProtocolVersion = 1;

// Body: one of the variants of those headers.
template <typename Body>
struct Envelope {
  std::uint32_t version = kProtocolVersion;
  std::uint64_t sequence = 0;  // chosen by the sender of a request; echoed in `reply_to`
  std::uint64_t reply_to = 0;  // 0 = not a reply
  std::int64_t deadline_ms =
      0;  // how long the sender waits; 0 = unbounded. Late requests are dropped
  Body body;
  friend bool operator==(const Envelope&, const Envelope&) = default;
};

struct Refused {  // the answer to a request that is not allowed or cannot be met
  ErrorCode code = ErrorCode::internal;
  std::string message;
  friend bool operator==(const Refused&, const Refused&) = default;
};

inline constexpr std::size_t kMaxControlMessageBytes = 64u << 20;
inline constexpr std::size_t kMaxJoinMessageBytes = 4096;

}  // namespace lockstep
