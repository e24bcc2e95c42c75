#pragma once
// The stacks of a process as the node's tools print them: a line of JSON for each process, with the
// threads of py-spy, or the text of eu-stack or gdb. What is in it was read from the job's memory:
// it may be anything. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::cli {

struct StackFrame {
  std::string function;
  std::string file;  // "": unknown
  int line = 0;      // 0: unknown
  friend bool operator==(const StackFrame&, const StackFrame&) = default;
};

struct StackThread {
  std::string name;  // "": it has none
  long long id = 0;  // of the kernel; 0: unknown
  bool is_main = false;
  bool has_gil = false;
  std::vector<StackFrame> frames;  // the innermost first
  friend bool operator==(const StackThread&, const StackThread&) = default;
};

struct StackProcess {
  int rank = 0;
  int pid = 0;  // as the ranks see it
  std::string command;
  std::string tool;   // py-spy, eu-stack, gdb; "": none ran
  std::string error;  // why there is nothing, or less than was asked for
  std::vector<StackThread> threads;
  friend bool operator==(const StackProcess&, const StackProcess&) = default;
};

inline constexpr std::size_t kMaxStackThreads = 1'000;  // of a process; more are left out
inline constexpr std::size_t kMaxStackFrames = 200;     // of a thread

// corrupt: it is no such line.
Result<StackProcess> stack_process_from(std::string_view line);

// Of what eu-stack -p or gdb's "thread apply all bt" prints.
std::vector<StackThread> threads_from_text(std::string_view text);

}  // namespace lockstep::cli
