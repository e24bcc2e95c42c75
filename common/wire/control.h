#pragma once
// The control and join sockets: one Envelope to bytes and back. The decoder accepts nothing that is
// out of range, and never crashes; what it returns may be trusted by everything behind it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/agent_messages.h"
#include "common/domain/client_messages.h"
#include "common/domain/join_messages.h"

namespace lockstep::wire {

// Body, here and below: AgentMessage, AgentReply, ClientRequest, ClientReply, JoinMessage or
// JoinReply.
template <typename Body>
std::string encode(const Envelope<Body>& envelope);

// Encodes the desired states of many nodes: the same bytes as encode(), but the gang table, which
// is equal for all nodes of a gang, is encoded once.
class DesiredEncoder {
 public:
  std::string encode(Envelope<AgentReply> envelope);  // its body is a Desired
  void forget_gangs() { gangs_.clear(); }

 private:
  std::map<AttemptId, std::string> gangs_;
};

// A peer's key determines its protocol, and so the Body that its messages are decoded as; messages
// of another protocol are refused. permission_denied: a message of another protocol.
// invalid_argument: an answer of a launcher. corrupt: not a message, or a field is out of range
// (and named). unsupported: another protocol version (both are named). resource_exhausted: longer
// than kMaxControlMessageBytes.
template <typename Body>
Result<Envelope<Body>> decode_envelope(std::string_view bytes);

// The sequence of a message that decode_envelope refuses, so that the refusal can name what it
// answers. nullopt when not even that is readable.
std::optional<std::uint64_t> peek_sequence(std::string_view bytes);

}  // namespace lockstep::wire
