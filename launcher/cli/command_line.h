#pragma once
// Parses the whole command line into either text with an exit code (help, version, a usage error)
// or the action to run.

#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

struct CommandLine {
  Action action;  // empty: the program only prints
  std::optional<jmespath::Expression> query = {};
  std::string out;              // the text for stdout
  std::string err;              // the text for stderr
  int exit_code = 0;            // used if `action` is empty
  bool names_last_job = false;  // `@last` stands where a job is named
};

// Parses a command line. `words` excludes the program's name. `default_output`: the word of -o for
// verbs that have one, where it is not given; "": each verb's own. `last_job`: the job that `@last`
// names; "": the word is left.
CommandLine parse_command_line(const std::vector<std::string>& words,
                               const std::string& default_output = "",
                               const std::string& last_job = "");

}  // namespace lockstep::cli
