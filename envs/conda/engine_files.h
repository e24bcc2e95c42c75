#pragma once
// The files of engine/, which the build compiled into this program.

#include <array>
#include <string_view>

namespace lockstep::envs {

struct EngineFile {
  std::string_view name, text;
};

extern const std::array<EngineFile, 14> kEngineFiles;

}  // namespace lockstep::envs
