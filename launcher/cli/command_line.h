#pragma once
// The command line as a whole: words in; either a text with an exit code (help, version, a usage
// error) or the work to do.

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

// `words` without the program's name.
CommandLine parse_command_line(const std::vector<std::string>& words);

}  // namespace lockstep::cli
