#pragma once
// Connects agent/workspace to the loop's staging and collecting actions, and to the locks of
// environments. There is one cache per home; blobs come from the launcher and from other nodes, and
// this node serves its own blobs to them.

#include "agent/daemon/agent.h"

namespace lockstep::agent {

struct WorkspaceFunctions {
  StageWorkspaceFunction stage;
  OutputFunctions outputs;
  LockFunctions locks;
  std::function<void(const AllowPeers&)> allow_peers;
  std::function<void(const Inventory&)> serve_peers;             // see AgentConfig
  std::function<void(const Identity&, const Inventory&)> moved;  // see AgentConfig
  std::function<void(const Identity&)> settled;
};

// The functions for staging and collecting. `transport` must outlive the functions. `low_space`: as
// in AgentConfig.
Result<WorkspaceFunctions> workspace_functions(const AgentHome& home, const Identity& identity,
                                               const io::KeyPair& keys, const Inventory& inventory,
                                               io::Transport& transport, Bytes cache_size,
                                               Bytes low_space);

}  // namespace lockstep::agent
