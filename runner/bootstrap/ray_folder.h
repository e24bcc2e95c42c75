#pragma once
// The folder for files of Ray's processes of one gang. Ray puts unix sockets there, whose paths may
// have 107 bytes, and an attempt's folder is deeper. So this is a symbolic link with a short name
// to the attempt's tmp/, which each rank makes before it starts Ray (runner/steps/ray_command.h).

#include <string>

namespace lockstep::runner {

struct GangContext;

// The folder, with the same path on all nodes, since Ray's workers use the head's path. It cannot
// be guessed before the attempt has begun.
std::string ray_folder(const GangContext& gang);

}  // namespace lockstep::runner
