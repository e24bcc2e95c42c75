#pragma once
// The name under which a caller waits, is counted and is limited: one for all keys, connections and
// running attempts of a user, one for each node. Limits that count keys or connections instead can
// be passed by making more of them.

#include <string>

#include "launcher/core/access/authority.h"

namespace lockstep::launcher {

inline std::string principal_of_user(const std::string& name) { return "user " + name; }

// "user alice", also for an attempt of one of her jobs; "node 7".
inline std::string principal_of(const Caller& caller) {
  const bool is_user =
      std::holds_alternative<UserCaller>(caller) || std::holds_alternative<AttemptCaller>(caller);
  return is_user ? principal_of_user(owner_of(caller)) : name_of(caller);
}

}  // namespace lockstep::launcher
