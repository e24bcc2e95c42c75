#include "agent/stage.h"

#include <memory>

#include "agent/workspace/workspace.h"

namespace lockstep::agent {

Result<StageWorkspaceFunction> workspace_stager(const Home& home, const Identity& identity,
                                                const io::KeyPair& keys, const Inventory& inventory,
                                                io::Transport& transport) {
  TRY_ASSIGN(std::shared_ptr<Workspace> workspace,
             Workspace::open({home.cache(), inventory.workdir_mode}));
  const auto blobs = std::make_shared<LauncherBlobs>(transport, identity.bulk_endpoint,
                                                     identity.launcher_key, keys);
  return StageWorkspaceFunction(
      [workspace, blobs](const Assignment& assignment, const io::AttemptDir& directory,
                         const std::function<void(const std::string&)>& progress) {
        return workspace->stage(assignment, directory, *blobs, progress);
      });
}

}  // namespace lockstep::agent
