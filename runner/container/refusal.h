#pragma once
// Whether the words of an engine that started no container blame the options that the job adds to
// `docker run`. Pure.

#include <string_view>

namespace lockstep::runner {

// It would say them again, on every node: a value that none takes. False for what another node may
// have (a device, a runtime, a folder), and for what is the engine's own.
bool blames_arguments(std::string_view words);

}  // namespace lockstep::runner
