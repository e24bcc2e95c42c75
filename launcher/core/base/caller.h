#pragma once
// The identity of the caller of a request. The shell derives it from the key that signed the
// message, never from a field of the message.

#include <string>
#include <variant>

#include "common/base/ids.h"

namespace lockstep::launcher {

struct Nobody {
  friend bool operator==(const Nobody&, const Nobody&) = default;
};
struct LauncherItself {  // changes without a request, such as by retention limits
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
// A running attempt of a job that acts for itself and its child jobs. It never has more rights than
// the job's owner. The shell makes one only for a valid credential of an attempt (caller_of in
// children.h).
struct AttemptCaller {
  AttemptId attempt;
  std::string owner, project;  // the owner and the project of the attempt's job
  // The attempt's ranks are being ended: it may only look at its jobs and cancel them.
  bool is_ending = false;
  friend bool operator==(const AttemptCaller&, const AttemptCaller&) = default;
};
using Caller = std::variant<Nobody, LauncherItself, UserCaller, NodeCaller, AttemptCaller>;
std::string name_of(const Caller& caller);  // "alice", "node 7", "attempt train.1"
// The user who owns the jobs that the caller submits; for an attempt, the owner of its job.
std::string owner_of(const Caller& caller);

}  // namespace lockstep::launcher
