#pragma once
// What providers say of a tool that failed: which of the three it is that may pass (it was killed,
// the network, the disk), and the tool's last lines.

#include <string>
#include <string_view>
#include <vector>

#include "common/io/file_system.h"
#include "envs/toolbox.h"

namespace lockstep::envs {

using Words = std::vector<std::string>;

// unavailable and resource_exhausted may pass; invalid_argument would come again.
Error tool_failure(std::string_view what, const Toolbox::Answer& answer);
// Fails unless it exits with 0.
Status run_tool(Toolbox& tools, const Words& words, std::string_view what);

// Waits for who has it, and says so. conflict: told to stop.
Result<io::FileLock> lock_of(Toolbox& tools, const std::string& path, std::string_view waiting);

Words joined(Words first, const Words& second);

// `python -m venv`; says what to install where that is not there.
Status make_venv(Toolbox& tools, const std::string& python, const std::string& prefix);

}  // namespace lockstep::envs
