#pragma once
// The server's end of the socket to its runner, with blocking calls: orders are read by one thread,
// reports may be sent by any. The process ends when the runner has closed its end or is gone.

#include <mutex>
#include <string>

#include "runner/pmix/protocol.h"

namespace lockstep::pmix {

class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  Order next();
  // Sends a report. When this returns, the runner has it in its socket.
  void send(const Report& report);

 private:
  std::string read(std::size_t bytes) const;

  int fd_;
  std::mutex mutex_;  // one report at a time
};

}  // namespace lockstep::pmix
