#pragma once
// Refuses Dockerfiles that could reach what other users of a node's engine have there: images by
// their ids, or by the names that Lockstep gives them; files, by the transports of podman; caches
// of other users' builds, through another frontend. It reads a Dockerfile as each engine might, and
// rather refuses too much. Pure: text in, an error out.

#include <string_view>

#include "common/base/result.h"

namespace lockstep::envs {

struct BuildEngine {
  bool is_podman = false;
  bool is_remote = false;  // the engine's builds do not use our TMPDIR
  // "podman 4.3.1", if its mounts lead out to the node's files; see EngineInfo. "": they do not.
  std::string_view leaky_mounts = {};
};

// Checks a Dockerfile. Returns invalid_argument with the line and what to write instead.
Status check_dockerfile(std::string_view text, const BuildEngine& engine);

}  // namespace lockstep::envs
