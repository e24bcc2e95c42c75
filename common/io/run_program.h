#pragma once
// Runs another program and returns its output, such as a version or a report. Not for ranks or for
// processes that must outlive us.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::io {

struct ProgramOutput {
  int exit_code = 0;   // 128+n: signal n
  std::string text;    // standard output, at most 1 MiB of it
  std::string errors;  // standard error, the same
};

// The first word is looked up in `path` (in the format of PATH) when it has no slash. Standard
// input is /dev/null; the environment is ours. not_found: there is no such program; unavailable: it
// was killed because it took longer than `timeout`.
Result<ProgramOutput> run_program(const std::vector<std::string>& words, Duration timeout,
                                  const std::string& path = "/usr/local/bin:/usr/bin:/bin");

}  // namespace lockstep::io
