#pragma once
// Shows the stacks of a rank's processes: finds these processes, chooses the tools to try for each,
// and makes a line of JSON of a tool's output. It reads /proc; it starts nothing.
//
// A line: {"rank": 0, "pid": 17, "command": "python3 train.py", "tool": "py-spy", and one or more
// of
//   "threads": […]  of `py-spy dump --json`, as it was
//   "text": "…"     the output of another tool
//   "error": "…"    why there is nothing, or less than was asked for}
// `pid` is the process's number for the ranks.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::runner {

inline constexpr std::size_t kMaxStackText = 1u << 20;  // the limit for one process
inline constexpr std::size_t kMaxTracedOfRank = 64;     // processes

struct TracedProcess {
  int rank = 0;
  int pid = 0;          // the pid as the ranks see it
  std::string command;  // the command line, shortened
  bool is_python = false;
  bool is_rank = false;  // the rank's own process, not a child
};

// The rank's process and its descendants, parents first. `pid`: the rank's, as lockstep-spawn has
// it; `spawn_pid`: lockstep-spawn as we have it. `root`: "", or the root of a fake machine. Empty:
// they cannot be seen from here.
std::vector<TracedProcess> processes_of_rank(int rank, int pid, int spawn_pid,
                                             const std::string& root = "");
// The processes of several ranks with these pids, found with one pass over all processes of the
// machine.
std::vector<TracedProcess> processes_of_ranks(const std::map<int, int>& pid_of_rank, int spawn_pid,
                                              const std::string& root = "");

// Describes one of these processes. `pid`: as we see it. `is_rank`: it is the rank's own. nullopt:
// it has ended.
std::optional<TracedProcess> traced_process(int rank, int pid, bool is_rank,
                                            const std::string& root = "");

struct StackTool {
  std::string name;
  std::vector<std::string> words;
};
// The tools in the order in which they are tried; the next one is used if one is missing.
std::vector<StackTool> stack_tools(const TracedProcess& process, bool native);

// Why the kernel does not allow tracing, from /proc/sys/kernel/yama/ptrace_scope; "": it may be
// tried.
std::string why_no_tracing(const std::string& ptrace_scope, bool is_root);
// The line's error if no tool is there.
std::string no_tool_words(const TracedProcess& process);

struct StackResult {
  TracedProcess process;
  std::string tool;    // "": none ran
  std::string output;  // the tool's output
  std::string error;
};
// The result in one line, which ends with a newline.
std::string stack_line(const StackResult& result);

}  // namespace lockstep::runner
