#pragma once
// engine.py, as the build put it into this program.

#include <string_view>

namespace lockstep::envs {

extern const std::string_view kEngineText;

}  // namespace lockstep::envs
