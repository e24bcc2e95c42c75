#pragma once
// The state of one stream of a rank in LogCapture.

#include "runner/logs/log_capture.h"

#include "common/base/utf8.h"
#include "runner/logs/log_stamps.h"

namespace lockstep::runner {

inline constexpr std::uint64_t kBlock = 4096;

struct LogCapture::Stream {
  struct Cut {
    std::uint64_t dropped = 0;
    std::string tail;         // the last of these bytes, for failure reports
    std::uint64_t begun = 0;  // bytes of a character at the limit, not yet among the dropped
  };
  Stream(int r, LogStream w, const std::string& p) : rank(r), which(w), path(p), stamps(p) {}

  int rank = 0;
  LogStream which = LogStream::out;
  std::string path;
  LogStamps stamps;
  io::Fd pipe;  // the end we read; empty after its end
  io::Fd file;
  std::uint64_t bytes = 0;  // the bytes in the file
  std::uint64_t taken = 0;  // how many of these the launcher has made durable
  std::uint64_t freed = 0;  // how many of these were freed on the disk
  std::string pending;      // read, and refused by the disk: the pipe is not watched meanwhile
  bool paused = false;      // the spool has no room: the pipe is not watched meanwhile
  char last = '\n';         // the last byte in the file
  Written written;          // the bytes that the rank wrote
  std::optional<Cut> cut;   // set when nothing more is kept

  std::uint64_t spooled() const { return bytes - taken; }
  std::uint64_t kept() const { return bytes + stamps.size().count; }
};

}  // namespace lockstep::runner
