#pragma once
// The variables that `lockstep run` gives a job: the lines of --env-file, then the values of --env;
// the later one wins. Every user of the machine can read a value on a command line while the
// command runs. A name alone takes its value from our own environment, and a file shows it only to
// those who may read the file.

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::cli {

using Variables = std::map<std::string, std::string>;

// Reads docker's format: one NAME=VALUE per line, and the value is taken literally, without
// unquoting. NAME alone takes our value. Empty lines and lines that start with # are skipped.
// Errors name the file and the line, never a value.
Status read_env_file(const std::string& path, Variables& variables);

// Reads words of the form SECRET or VARIABLE=SECRET. The variable that gets the secret has the
// secret's name by default.
Status read_secret_words(const std::vector<std::string>& words, Variables& variables);

// Reads words of the form NAME=VALUE or NAME.
Status read_env_words(const std::vector<std::string>& words, Variables& variables);

}  // namespace lockstep::cli
