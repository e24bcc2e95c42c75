#pragma once
// The protocol of the join socket, which accepts connections from everybody. A node asks to join; a
// client whose key is not accepted elsewhere asks why.

#include <string>
#include <variant>

#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/domain/messages/envelope.h"
#include "common/domain/people/key_standing.h"
#include "common/domain/targets/machine_part.h"

namespace lockstep {

struct JoinRequest {  // the sender's CURVE key (ZAP user id) becomes the node's key
  static constexpr int kBody = 80;
  std::string token_secret;
  std::string name;  // the node name that it asks for; by default the host name
  std::string version;
  MachinePart machine = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "token_secret", s.token_secret, kNameRule);
    see(field<2>, "name", s.name, kUserNameRule);
    see(field<3>, "version", s.version, {.bytes = 256});
    see(field<93>, "machine", s.machine, {.unless_empty = true});
  }
  friend bool operator==(const JoinRequest&, const JoinRequest&) = default;
};
struct JoinAccepted {
  static constexpr int kBody = 81;
  NodeId node;
  std::string name;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "name", s.name, kNameRule);
  }
  friend bool operator==(const JoinAccepted&, const JoinAccepted&) = default;
};
struct JoinRefused {
  static constexpr int kBody = 82;
  std::string reason;
  static void table(auto& s, auto&& see) { see(field<1>, "reason", s.reason, kCutText); }
  friend bool operator==(const JoinRefused&, const JoinRefused&) = default;
};

// Asks about the sender's own key; the reply is a KeyStanding.
struct AskAboutKey {
  static constexpr int kBody = 641;
  static void table(auto&, auto&&) {}
  friend bool operator==(const AskAboutKey&, const AskAboutKey&) = default;
};

using JoinMessage = std::variant<JoinRequest, AskAboutKey>;
using JoinReply = std::variant<JoinAccepted, JoinRefused, KeyStanding>;

}  // namespace lockstep
