#pragma once
// Reads the JSON output of `docker info` and `podman info`.

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep::envs {

struct EngineInfo {
  std::string name;  // "docker 20.10.24", "podman 4.3.1, rootless"
  bool is_podman = false;
  bool is_rootless = false;
  bool limits_memory = false;
  std::string gpus;         // see Container::gpus
  bool has_buildx = false;  // docker builds with BuildKit
  // A Dockerfile's `RUN --mount` can reach files of the node: podman that runs as root, without the
  // mends of CVE-2024-1753, CVE-2024-9407 and CVE-2024-9675.
  bool mounts_lead_out = false;
};

// The arguments of the engine's program that print it.
inline constexpr const char* kInfoWords[] = {"info", "--format", "{{json .}}"};

// Reads the engine's answer. `errors`: its standard error. Returns unavailable, with the engine's
// words, if its daemon does not answer.
Result<EngineInfo> engine_info_from(std::string_view text, const std::string& errors);

// Advice for a node on which no engine answers for this reason.
std::string engine_advice(std::string_view reason);

}  // namespace lockstep::envs
