#pragma once
// Connects agent/workspace to the loop's staging and collecting actions, and to the locks of
// environments: one cache per home, blobs from the launcher and from other nodes, which are served
// in turn.

#include "agent/daemon/agent.h"

namespace lockstep::agent {

struct WorkspaceFunctions {
  StageWorkspaceFunction stage;
  OutputFunctions outputs;
  LockFunctions locks;
  std::function<void(const AllowPeers&)> allow_peers;  // empty: it serves nobody
};

// `transport` outlives the functions.
Result<WorkspaceFunctions> workspace_functions(const AgentHome& home, const Identity& identity,
                                               const io::KeyPair& keys, const Inventory& inventory,
                                               io::Transport& transport, Bytes cache_size);

}  // namespace lockstep::agent
