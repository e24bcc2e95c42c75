#pragma once
// The commands of Ray's ranks. Rank 0 starts the head of a Ray cluster on its node, and then
// becomes the job's command; the rank of any other node is a Ray worker until it is ended. All of
// Ray's processes descend from their rank. `ray stop` is never called: it ends all of the user's
// Ray processes on the machine, also other jobs'.

#include <string>
#include <vector>

#include "runner/bootstrap/gang_context.h"

namespace lockstep::runner {

// "10.0.0.1:6105": of the head, for Ray's workers and for ray.init().
std::string ray_address(const GangContext& gang);

// The command that `shell` runs instead of `command` on this node.
std::vector<std::string> ray_words(const GangContext& gang, const std::string& shell,
                                   const std::vector<std::string>& command);

}  // namespace lockstep::runner
