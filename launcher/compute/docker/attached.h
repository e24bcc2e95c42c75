#pragma once
// Starts a container with the engine's program attached to it, and reads what its agent prints
// until the agent has joined. The engine's program is then killed, and the container continues to
// run.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::compute::docker {

struct Attached {
  enum class End { joined, ended, timed_out };
  End end = End::ended;
  // The exit code of the engine's program, usually the container's; 128+n: signal n.
  int exit_code = 0;
  std::string text;  // the end of the output
};

// Runs the container until its agent has joined. words[0] is an absolute path. `token` is what the
// container reads on its standard input.
Result<Attached> run_until_joined(const std::vector<std::string>& words, std::string_view token,
                                  Duration timeout);

}  // namespace lockstep::compute::docker
