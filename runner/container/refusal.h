#pragma once
// Decides whether an engine's error message blames the options that the job adds to `docker run`.
// Pure.

#include <string_view>

namespace lockstep::runner {

// True: every node would refuse the options, for example an invalid value. False for something that
// another node may have (a device, a runtime, a folder), and for the engine's own faults.
bool blames_arguments(std::string_view words);

}  // namespace lockstep::runner
