#pragma once
// A run of a container engine's program as our child. It has exactly the given environment, its
// output goes to a file, and its end is reported on the loop. This object owns the process.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"

namespace lockstep::runner {

inline constexpr Duration kReapTimeout = seconds(1);

class EngineProgram {
 public:
  struct Order {
    std::vector<std::string> words;  // the program first, an absolute path
    std::map<std::string, std::string> variables;
    std::string log;        // the file to which its output is appended
    std::string directory;  // its working directory: podman's conmon leaves a file `oom` there
  };
  // Starts the program; returns not_found if it does not exist.
  static Result<std::unique_ptr<EngineProgram>> start(io::EventLoop& loop, const Order& order,
                                                      std::function<void(int wait_status)> on_end);
  // Kills it if it still runs, and waits for its end, at most kReapTimeout.
  ~EngineProgram();
  EngineProgram(const EngineProgram&) = delete;
  EngineProgram& operator=(const EngineProgram&) = delete;

  bool has_ended() const { return has_ended_; }
  void kill();  // on_end follows

 private:
  EngineProgram(io::EventLoop& loop, int pid, io::Fd process, std::function<void(int)> on_end);
  void reap();

  io::EventLoop& loop_;
  int pid_;
  io::Fd process_;  // readable once it has ended
  std::function<void(int)> on_end_;
  bool has_ended_ = false;
};

}  // namespace lockstep::runner
