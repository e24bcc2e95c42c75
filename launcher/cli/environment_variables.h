#pragma once
// The variables that `lockstep run` gives a job: --env-file's lines, then --env's words, where the
// later one wins. A value that is written on a command line can be read by everybody on the machine
// while the command runs; a name alone takes its value from our own environment, and a file keeps
// it to those who may read the file.

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::cli {

using Variables = std::map<std::string, std::string>;

// docker's format: NAME=VALUE a line, the value as it stands, without quoting; NAME alone takes our
// value; empty lines and lines that start with # are skipped. Errors name the file and the line,
// never a value.
Status read_env_file(const std::string& path, Variables& variables);

// SECRET or VARIABLE=SECRET: the variable that has the secret, by default of the same name.
Status read_secret_words(const std::vector<std::string>& words, Variables& variables);

// NAME=VALUE or NAME.
Status read_env_words(const std::vector<std::string>& words, Variables& variables);

}  // namespace lockstep::cli
