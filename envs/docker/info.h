#pragma once
// What `docker info` and `podman info` say of an engine, as JSON.

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep::envs {

struct EngineInfo {
  std::string name;  // "docker 20.10.24", "podman 4.3.1, rootless"
  bool is_podman = false;
  bool is_rootless = false;
  bool limits_memory = false;
  std::string gpus;         // as in Container
  bool has_buildx = false;  // docker builds by BuildKit
};

// The words after the program's name that it is asked with.
inline constexpr const char* kInfoWords[] = {"info", "--format", "{{json .}}"};

// unavailable, in its own words: its daemon does not answer; `errors` is what it printed beside.
Result<EngineInfo> engine_info_from(std::string_view text, const std::string& errors);

// What to do where no engine answers for this reason.
std::string engine_advice(std::string_view reason);

}  // namespace lockstep::envs
