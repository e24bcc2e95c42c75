#pragma once
// The stacks of a process as the node's tools print them: a line of JSON for each process, with the
// threads of py-spy, or the text of eu-stack or gdb. What is in it was read from the job's memory:
// it may be anything. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/ranks/native_stack.h"

namespace lockstep::cli {

struct StackProcess {
  int rank = 0;
  int pid = 0;  // the pid as the ranks see it
  std::string command;
  std::string tool;   // py-spy, eu-stack, gdb; "": none ran
  std::string error;  // why there is nothing, or less than was asked for
  std::vector<StackThread> threads;
  friend bool operator==(const StackProcess&, const StackProcess&) = default;
};

// Reads one such line. Returns corrupt if the line has another form.
Result<StackProcess> stack_process_from(std::string_view line);

}  // namespace lockstep::cli
