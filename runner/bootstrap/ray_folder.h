#pragma once
// Where Ray's processes of one gang have their files. Ray puts unix sockets there, whose paths may
// have 107 bytes, and an attempt's folder is deeper. So the name is short: a symbolic link to the
// attempt's tmp/, which each rank makes before it starts Ray (runner/steps/ray_command.h).

#include <string>

namespace lockstep::runner {

struct GangContext;

// The same on all nodes, since Ray's workers take the head's. Nobody knows it before the attempt
// has begun.
std::string ray_folder(const GangContext& gang);

}  // namespace lockstep::runner
