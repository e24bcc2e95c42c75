#pragma once
// The commands of lockstepd beside the daemon itself: fsck, backup, restore.

#include <optional>

namespace lockstep::launcher {

// The exit code; nullopt: argv asks for the daemon.
//   0 done, and nothing is wrong; 1 problems were found (each was printed); 2 usage; 3 a daemon has
//   the home; 4 it cannot be looked at
std::optional<int> run_tool(int argc, const char* const* argv);

}  // namespace lockstep::launcher
