#pragma once
// The parts of the caller's shell that a job does not get, though the caller may expect them: the
// Python of an active environment, and standard input. Each function returns one line for `run` to
// print, or "".

#include <functional>
#include <string>

#include "common/domain/job/spec.h"

namespace lockstep::cli {

// Reads the caller's environment variables and the files of this machine, which is also the job's
// node. Tests replace it.
struct Shell {
  std::function<std::string(const char* variable)> variable;  // "": not set
  std::function<bool(const std::string& path)> is_executable;
  static Shell ours();
};

// The note for a job on this machine whose command is `python…`, while a venv or conda environment
// is active here: which interpreter the job gets, and how to run it in that environment.
std::string python_left_behind(const JobSpec& spec, const Shell& shell);

// The warning when `fd` is a pipe that is not at its end, or a file with unread bytes; "": there is
// none.
std::string input_left_behind(int fd);

}  // namespace lockstep::cli
