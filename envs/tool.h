#pragma once
// The errors of tools that failed: the cause, as far as the tool's output shows it, and the tool's
// last lines.

#include <string>
#include <string_view>
#include <vector>

#include "common/io/file_system.h"
#include "envs/toolbox.h"

namespace lockstep::envs {

using Words = std::vector<std::string>;

// The error of a failed tool. unavailable (killed, network) and resource_exhausted (disk) may be
// temporary. permission_denied, corrupt and not_found (credentials, a damaged or missing package)
// need a fix; invalid_argument would come again.
Error tool_failure(std::string_view what, const Toolbox::Answer& answer);
// The index that a tool did not reach, as far as its output tells it.
struct Unreached {
  std::string site;  // "http://host:port", without a user and a password
  std::string why;   // "Connection refused"
};
Unreached unreached_index(std::string_view tail);
// Runs a tool. An error unless it exits with 0.
Status run_tool(Toolbox& tools, const Words& words, std::string_view what);

// Waits for the lock and, if another process holds it, logs `waiting`. conflict: told to stop.
Result<io::FileLock> lock_of(Toolbox& tools, const std::string& path, std::string_view waiting);

Words joined(Words first, const Words& second);

// Runs `python -m venv`; if its venv module is incomplete, the error says what to install.
Status make_venv(Toolbox& tools, const std::string& python, const std::string& prefix);

}  // namespace lockstep::envs
