#pragma once
// The envelope that the protocols of the control and join sockets share. Each protocol is a pair of
// variants: the peers' messages to the launcher, and the launcher's replies
// (messages/agent_protocol.h, messages/client_protocol.h, messages/join_protocol.h). common/wire
// encodes them; the programs use only these types. Requests are idempotent: a request or its reply
// may be lost, duplicated or late, and it is always safe to send the request again.

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/base/table.h"

namespace lockstep {

inline constexpr std::uint32_t kProtocolVersion = 1;

// The envelope of a message. `Body` is one of the variants of those headers.
template <typename Body>
struct Envelope {
  std::uint32_t version = kProtocolVersion;
  std::uint64_t sequence = 0;  // chosen by the sender of a request; echoed in `reply_to`
  std::uint64_t reply_to = 0;  // 0 = not a reply
  std::int64_t deadline_ms =
      0;  // how long the sender waits; 0 = unbounded. Late requests are dropped
  Body body;
  bool takes_waits = false;  // a request's: its sender knows WaitsForDisk
  friend bool operator==(const Envelope&, const Envelope&) = default;
};

struct Refused {  // the reply to an agent or a client whose request is not allowed or fails
  static constexpr int kBody = 69;
  ErrorCode code = ErrorCode::internal;
  std::string message;
  static void table(auto& s, auto&& see) {
    see(by_hand<1, 3>, "code", s.code);
    see(field<2>, "message", s.message, kCutText);
  }
  friend bool operator==(const Refused&, const Refused&) = default;
};

inline constexpr std::size_t kMaxControlMessageBytes = 64u << 20;
inline constexpr std::size_t kMaxJoinMessageBytes = 4096;

}  // namespace lockstep
