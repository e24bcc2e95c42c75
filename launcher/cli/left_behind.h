#pragma once
// Warnings about things of the caller's shell that a job does not get although the caller may
// expect them: the Python of an active environment, and standard input. Each is one line for `run`
// to print, or "".

#include <functional>
#include <string>

#include "common/domain/job_spec.h"

namespace lockstep::cli {

// Access to the caller's shell and to files of this machine, on which the job runs too.
struct Shell {
  std::function<std::string(const char* variable)> variable;  // "": not set
  std::function<bool(const std::string& path)> is_executable;
  static Shell ours();
};

// Of a job on this machine whose command is `python…`, while a venv or conda environment is active
// here: which interpreter it gets, and how to take the environment along.
std::string python_left_behind(const JobSpec& spec, const Shell& shell);

// When `fd` is a pipe that is not at its end, or a file with something to read.
std::string input_left_behind(int fd);

}  // namespace lockstep::cli
