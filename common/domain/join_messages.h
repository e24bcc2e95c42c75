#pragma once
// The protocol of the join socket, which accepts connections from everybody: one request, two
// possible replies.

#include <string>
#include <variant>

#include "common/base/ids.h"
#include "common/domain/envelope.h"

namespace lockstep {

struct JoinRequest {  // the sender's CURVE key (ZAP user id) becomes the node's key
  std::string token_secret;
  std::string name;  // the node name that it asks for; by default the host name
  std::string version;
  friend bool operator==(const JoinRequest&, const JoinRequest&) = default;
};
struct JoinAccepted {
  NodeId node;
  std::string name;
  friend bool operator==(const JoinAccepted&, const JoinAccepted&) = default;
};
struct JoinRefused {
  std::string reason;
  friend bool operator==(const JoinRefused&, const JoinRefused&) = default;
};

using JoinMessage = std::variant<JoinRequest>;
using JoinReply = std::variant<JoinAccepted, JoinRefused>;

}  // namespace lockstep
