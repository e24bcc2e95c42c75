#include "envs/docker/scratch.h"

namespace lockstep::envs {

Result<std::string> scratch_of(const Toolbox& tools) {
  std::string folder = tools.variable("TMPDIR");
  if (folder.empty()) return make_error(ErrorCode::internal, "TMPDIR is not set");
  return folder;
}

}  // namespace lockstep::envs
