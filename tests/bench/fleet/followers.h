#pragma once
// Connections that follow one job as `lockstep job stream` does: each watches it over the control
// socket and follows its logs over the bulk socket, then says nothing more. They measure what that
// costs the launcher.

#include <string>

#include "common/base/result.h"

namespace lockstep::fleet {

struct FollowersOptions {
  std::string home;      // LOCKSTEP_HOME, for the user's key
  std::string endpoint;  // the launcher's endpoint.json
  std::string job;
  int count = 1;
};

// Prints "following" when all have their first answer; then, at each line on standard input, the
// number of messages that came over the control sockets until then. Ends with standard input.
Status follow(const FollowersOptions& options);

}  // namespace lockstep::fleet
