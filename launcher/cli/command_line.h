#pragma once
// Parses the whole command line into either text with an exit code (help, version, a usage error)
// or the action to run.

#include <string>
#include <vector>

#include "launcher/cli/verbs.h"

namespace lockstep::cli {

struct CommandLine {
  Action action;      // empty: only print
  std::string out;    // for stdout
  std::string err;    // for stderr
  int exit_code = 0;  // when there is no action
};

// `words` excludes the program's name.
CommandLine parse_command_line(const std::vector<std::string>& words);

}  // namespace lockstep::cli
