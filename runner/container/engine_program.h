#pragma once
// A run of a container engine's program, as our child: its environment is exactly what it is given,
// what it prints goes to a file, and its end comes on the loop. It owns the process.

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
    std::string log;        // appended to
    std::string directory;  // that it works in: podman's conmon leaves a file `oom` there
  };
  // not_found: there is no such program.
  static Result<std::unique_ptr<EngineProgram>> start(io::EventLoop& loop, const Order& order,
                                                      std::function<void(int wait_status)> on_end);
  // Kills it when it runs still, and waits for its end, at most kReapTimeout.
  ~EngineProgram();
  EngineProgram(const EngineProgram&) = delete;
  EngineProgram& operator=(const EngineProgram&) = delete;

  bool has_ended() const { return has_ended_; }
  void kill();  // its end comes as any other

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
