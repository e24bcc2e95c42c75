#pragma once
// The commands of lockstepd other than the daemon itself: fsck, backup, restore.

#include <optional>

namespace lockstep::launcher {

// The exit code; nullopt: argv asks for the daemon.
//   0 done, no problems; 1 problems were found (each was printed); 2 usage; 3 a daemon has the
//   home; 4 the home cannot be read
std::optional<int> run_tool(int argc, const char* const* argv);

}  // namespace lockstep::launcher
