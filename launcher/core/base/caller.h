#pragma once
// Who asks. The shell derives it from the key that signed the message, never from a field of the
// message.

#include <string>
#include <variant>

#include "common/base/ids.h"

namespace lockstep::launcher {

struct Nobody {
  friend bool operator==(const Nobody&, const Nobody&) = default;
};
struct LauncherItself {  // changes without a request: retention limits
  friend bool operator==(const LauncherItself&, const LauncherItself&) = default;
};
struct UserCaller {
  std::string name;
  friend bool operator==(const UserCaller&, const UserCaller&) = default;
};
struct NodeCaller {
  NodeId node;
  friend bool operator==(const NodeCaller&, const NodeCaller&) = default;
};
// A job's running attempt, acting for itself and its child jobs. It has at most its owner's rights.
// The shell makes one only for an attempt whose credential counts (caller_of of children.h).
struct AttemptCaller {
  AttemptId attempt;
  std::string owner, project;  // the job's
  bool is_ending = false;      // its ranks are being ended: it only looks on, and cancels
  friend bool operator==(const AttemptCaller&, const AttemptCaller&) = default;
};
using Caller = std::variant<Nobody, LauncherItself, UserCaller, NodeCaller, AttemptCaller>;
std::string name_of(const Caller& caller);  // "alice", "node 7", "attempt train.1"
// The user whose jobs the caller's submissions are: of an attempt, its owner.
std::string owner_of(const Caller& caller);

}  // namespace lockstep::launcher
