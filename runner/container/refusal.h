#pragma once
// Decides from an engine's output whether a container failed to start because of the options that
// the job adds to `docker run`. Pure.

#include <string_view>

namespace lockstep::runner {

// Whether every node's engine would reject the options: a value that no engine accepts. False if
// another node may have the missing thing (a device, a runtime, a folder), and for failures of the
// engine itself.
bool blames_arguments(std::string_view words);

}  // namespace lockstep::runner
