#pragma once
// The control and join sockets: encodes and decodes one Envelope. The decoder refuses values that
// are out of range and never crashes, so the code behind it can trust its result.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/messages/agent_protocol.h"
#include "common/domain/messages/client_protocol.h"
#include "common/domain/messages/join_protocol.h"

namespace lockstep::wire {

// The codec of an envelope. Body, here and below: AgentMessage, AgentReply, ClientRequest,
// ClientReply, JoinMessage or JoinReply.
template <typename Body>
std::string encode(const Envelope<Body>& envelope);

// Encodes the desired states of many nodes in a row. A decoder reads the same messages as from
// encode(), but the table of a gang, which is the same for all its nodes, is encoded only once.
class DesiredEncoder {
 public:
  std::string encode(Envelope<AgentReply> envelope);  // an envelope whose body is a Desired
  void forget_gangs() { gangs_.clear(); }

 private:
  std::map<AttemptId, std::string> gangs_;
};

// Decodes a message. A peer's key determines its protocol, and so the Body of its messages; a
// message of another protocol is not decoded. Errors: permission_denied: a message that only peers
// of another protocol may send; invalid_argument: a launcher's reply; corrupt: not a message, or a
// field is out of range (the error names it); unsupported: another protocol version (the error
// names both); resource_exhausted: longer than kMaxControlMessageBytes.
template <typename Body>
Result<Envelope<Body>> decode_envelope(std::string_view bytes);

// The reason in a JoinRefused, whatever its protocol version, because a refusal often is about
// versions. "": the bytes are another message, or cannot be read.
std::string join_refusal_of_any_version(std::string_view bytes);

// The sequence number of a message that decode_envelope refuses, so that the refusal can be sent as
// a reply to it. nullopt when not even that number is readable.
std::optional<std::uint64_t> peek_sequence(std::string_view bytes);

}  // namespace lockstep::wire
