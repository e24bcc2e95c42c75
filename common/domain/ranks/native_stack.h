#pragma once
// Stacks of threads as eu-stack and gdb print them, as values. The text was made from the memory of
// somebody's program: it may hold anything. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct StackFrame {
  std::string function;
  std::string file;  // "": unknown
  int line = 0;      // 0: unknown
  friend bool operator==(const StackFrame&, const StackFrame&) = default;
};

struct StackThread {
  std::string name;  // "": it has none
  long long id = 0;  // the kernel's id of the thread; 0: unknown
  bool is_main = false;
  bool has_gil = false;
  std::vector<StackFrame> frames;  // the innermost first
  friend bool operator==(const StackThread&, const StackThread&) = default;
};

inline constexpr std::size_t kMaxStackThreads = 1'000;  // the most threads of a process; further
                                                        // ones are left out
inline constexpr std::size_t kMaxStackFrames = 200;     // the most frames of a thread

// Reads the stacks that eu-stack or gdb's "thread apply all bt" and "bt" print. The thread that a
// core file is about comes first.
std::vector<StackThread> threads_from_text(std::string_view text);

// The lines of the thread that failed: "#0 crash at boom.c:3", one frame per line, at most `limit`
// bytes. Frames of the C library at the top that only end a process (raise, abort) are left out.
std::string backtrace_lines(const StackThread& thread, std::size_t limit);
// The first frame of the backtrace lines, in one line and with the file without its folder.
std::optional<StackFrame> frame_of_failure(const StackThread& thread);

}  // namespace lockstep
