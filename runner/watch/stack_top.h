#pragma once
// Reads one line of `job stacks` (runner/attach/stacks.h) for what its process's main thread does:
// whether it waits in a library for other ranks, in which call, and where in the user's code. Pure.
// The line comes from a tool and a program of the user, so it may contain anything.

#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace lockstep::runner {

struct StackTop {
  int pid = 0;         // the pid that the ranks see
  bool waits = false;  // in MPI, NCCL, gloo, c10d, PMIx or UCX; or for a GPU's work to end
  std::string within;  // the library's call that the user's code made: "MPI_Barrier"; "": none
  std::string at;      // "eval.py:88", "solve (solver.c:12)", "solve"; "": unknown
  Instant taken = {};  // set by the caller
  friend bool operator==(const StackTop&, const StackTop&) = default;
};
// Reads a line of `job stacks`. nullopt: the line has no stack, but the reason for that.
std::optional<StackTop> parse_stack_line(std::string_view line);

}  // namespace lockstep::runner
