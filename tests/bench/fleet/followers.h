#pragma once
// Connections that follow one job as `lockstep job stream` does: each watches it over the control
// socket and follows its logs over the bulk socket, then sends nothing more. The benchmark measures
// what they cost the launcher.

#include <string>

#include "common/base/result.h"

namespace lockstep::fleet {

struct FollowersOptions {
  std::string home;      // LOCKSTEP_HOME, for the user's key
  std::string endpoint;  // the launcher's endpoint.json
  std::string job;
  int count = 1;
};

// Prints "following" when all connections have their first answer. Then, for each line on standard
// input, prints the number of messages received over the control sockets so far. Returns at the end
// of standard input.
Status follow(const FollowersOptions& options);

}  // namespace lockstep::fleet
