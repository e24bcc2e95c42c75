#pragma once
// Finds runners by their command lines, also those whose attempt directory, and so their pid file,
// is gone. Used to end runners that no agent or launcher knows.

#include <string>
#include <vector>

#include "common/io/process.h"

namespace lockstep::io {

struct Runner {
  ProcessIdentity process;
  std::string directory;  // the directory of its attempt; may not exist any more
};

// The live runners whose attempt directory is, or was, `folder`/ATTEMPT, or below the `attempts` of
// a node in `folder`. Only processes of our own user that execute a lockstep-runner: any account
// can copy a command line. A runner in a container that sees another folder under the same path is
// not among them.
std::vector<Runner> runners_below(const std::string& folder);

// Kills a runner, removes its cgroups, and waits some seconds until all its descendants have ended
// too. If the caller is killed meanwhile, the record in the attempt's directory names the remains.
Status end_runner(const Runner& runner);

// Kills the processes in the cgroups of a runner that has ended, and removes the cgroups: those in
// the record of its attempt, or, if the record was removed, those with its name.
Status remove_cgroups(const Runner& runner);

}  // namespace lockstep::io
