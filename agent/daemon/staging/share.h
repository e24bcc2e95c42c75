#pragma once
// Package files in this node's blob cache, from which other nodes fetch them.

#include <memory>

#include "agent/environment/package_share.h"
#include "agent/workspace/workspace.h"

namespace lockstep::agent {

ShareFunctions share_functions(std::shared_ptr<Workspace> workspace,
                               std::shared_ptr<LauncherBlobs> blobs);

}  // namespace lockstep::agent
