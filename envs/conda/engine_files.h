#pragma once
// The files of engine/, as the build put them into this program.

#include <array>
#include <string_view>

namespace lockstep::envs {

struct EngineFile {
  std::string_view name, text;
};

extern const std::array<EngineFile, 14> kEngineFiles;

}  // namespace lockstep::envs
