#pragma once
// The lines about a folder before its files are read and sent: the symlinks that were followed,
// with the files that they add, the symlinks that stayed, and the ignore files that do not count.
// Pure.

#include <mutex>
#include <string>
#include <vector>

#include "common/snapshot/capture/capture.h"
#include "launcher/cli/terminal/terminal.h"

namespace lockstep::cli {

// The size of linked files above which a line of its own tells how to leave them out.
inline constexpr Bytes kMuchThroughLinks{1'000'000'000};

// The use of the files. A job keeps links if its file says so; registered files (`data`, `model`
// and `component create`) have no links that lead out of them.
enum class CapturedFor { job, registration };

// The lines. `folder`: for people. Names of files are quoted where they need it.
std::vector<std::string> capture_lines(const std::string& folder,
                                       const snapshot::CaptureReport& report,
                                       CapturedFor purpose = CapturedFor::job);

// Lines that the capturing thread has for the terminal, which another thread writes to.
class PendingLines {
 public:
  void add(std::vector<std::string> lines);
  void print(Terminal& terminal);

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace lockstep::cli
