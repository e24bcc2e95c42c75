#pragma once
// The ways in which this node can set up a workspace.

#include <string>

#include "common/base/result.h"
#include "common/snapshot/checkout/materialize.h"

namespace lockstep::agent {

// Whether mounts can be unshared, tested in a child process, because an unshared namespace cannot
// be left again.
bool can_unshare_mounts();

// Whether ranks can see their working directory below jobs_folder().
bool has_common_path();

// The owner of files for jobs that run as this account; "": as this agent.
Result<snapshot::Owner> owner_for(const std::string& run_as);

}  // namespace lockstep::agent
