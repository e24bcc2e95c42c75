#pragma once
// Errors of failed tools: whether the cause is temporary (killed, network, disk), and the tool's
// last lines.

#include <string>
#include <string_view>
#include <vector>

#include "common/io/file_system.h"
#include "envs/toolbox.h"

namespace lockstep::envs {

using Words = std::vector<std::string>;

// unavailable and resource_exhausted: a retry may succeed; invalid_argument: it would fail again.
Error tool_failure(std::string_view what, const Toolbox::Answer& answer);
// Fails unless it exits with 0.
Status run_tool(Toolbox& tools, const Words& words, std::string_view what);

// Takes the lock; while another process has it, waits and reports that. conflict: told to stop.
Result<io::FileLock> lock_of(Toolbox& tools, const std::string& path, std::string_view waiting);

Words joined(Words first, const Words& second);

// `python -m venv`; says what to install where that is not there.
Status make_venv(Toolbox& tools, const std::string& python, const std::string& prefix);

}  // namespace lockstep::envs
