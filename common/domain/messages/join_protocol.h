#pragma once
// The protocol of the join socket, which accepts connections from everybody. A node asks to join; a
// client whose key is accepted nowhere else asks what became of it.

#include <string>
#include <variant>

#include "common/base/ids.h"
#include "common/domain/messages/envelope.h"
#include "common/domain/people/key_standing.h"
#include "common/domain/targets/machine_part.h"

namespace lockstep {

struct JoinRequest {  // the sender's CURVE key (ZAP user id) becomes the node's key
  std::string token_secret;
  std::string name;  // the node name that it asks for; by default the host name
  std::string version;
  MachinePart machine = {};
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

// About the sender's own key; the reply is a KeyStanding.
struct AskAboutKey {
  friend bool operator==(const AskAboutKey&, const AskAboutKey&) = default;
};

using JoinMessage = std::variant<JoinRequest, AskAboutKey>;
using JoinReply = std::variant<JoinAccepted, JoinRefused, KeyStanding>;

}  // namespace lockstep
