#pragma once
// Connects agent/workspace to the loop's staging action: one cache per home, blobs from the
// launcher.

#include "agent/agent.h"

namespace lockstep::agent {

// `transport` outlives the function.
Result<StageWorkspaceFunction> workspace_stager(const Home& home, const Identity& identity,
                                                const io::KeyPair& keys, const Inventory& inventory,
                                                io::Transport& transport);

}  // namespace lockstep::agent
