#pragma once
// Runs another program and returns its output, such as a version or a report. Not for ranks or for
// processes that must outlive us.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/file_system.h"

namespace lockstep::io {

struct ProgramOutput {
  int exit_code = 0;   // 128+n: signal n
  std::string text;    // standard output, at most `max_output` of it
  std::string errors;  // standard error, limited in the same way
};

// Runs a program and waits for its end. The first word is looked up in `path` (in the format of
// PATH) if it has no slash. Standard input is /dev/null; the environment is ours. Returns not_found
// if the program does not exist, and unavailable if it was killed because it took longer than
// `timeout`.
Result<ProgramOutput> run_program(const std::vector<std::string>& words, Duration timeout,
                                  const std::string& path = "/usr/local/bin:/usr/bin:/bin");

struct ProgramOptions {
  Duration timeout;
  std::string path = "/usr/local/bin:/usr/bin:/bin";
  int input = -1;                             // its standard input; -1: /dev/null
  std::vector<std::string> environment = {};  // "NAME=value", beside and instead of ours
  bool dies_with_us = false;                  // the kernel kills it when the calling thread ends
  std::size_t max_output = 1u << 20;          // bytes of each stream; the rest is read and dropped
};
Result<ProgramOutput> run_program(const std::vector<std::string>& words,
                                  const ProgramOptions& options);

// Makes a file without a name that has `text` and is read from its start: for secrets and scripts
// that become another program's standard input.
Result<Fd> memory_file(std::string_view text);

}  // namespace lockstep::io
