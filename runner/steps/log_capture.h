#pragma once
// The ranks' stdout and stderr: one pipe per stream and rank, drained on the loop into append-only
// files. What cannot be written (a full disk) stays in the pipe: the rank blocks, nothing is lost.
// It owns pipes and files; it never interprets a byte, and shows nobody anything.

#include <memory>
#include <string>
#include <vector>

#include "common/domain/exit_report.h"
#include "common/io/attempt_dir.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"

namespace lockstep::runner {

class LogCapture {
 public:
  LogCapture(io::EventLoop& loop, io::AttemptDir directory);
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  struct Writers {
    io::Fd out, err;
  };
  // The ends that become the rank's stdout and stderr; to be closed here once the rank has them.
  // They belong to `uid`, so that the rank may open /dev/stdout.
  Result<Writers> open(int rank, std::uint32_t uid);

  // To be called when no process of ours is left: takes what still waits in the pipes, closes them,
  // and syncs the files. False: the disk is full; ask again after retry_at().
  bool drain();
  std::vector<LogSize> sizes() const;
  std::string stderr_tail(int rank) const;  // the last kStderrTailBytes

  // While the disk refuses: when to call retry(), and why the ranks wait; never() and "" otherwise.
  Instant retry_at() const { return retry_at_; }
  const std::string& blocked_reason() const { return reason_; }
  void retry(Instant now);

 private:
  struct Stream;
  void read_some(Stream& stream);
  bool flush(Stream& stream);
  void close(Stream& stream);

  io::EventLoop& loop_;
  io::AttemptDir directory_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::string buffer_;
  Instant retry_at_ = Instant::never();
  std::string reason_;
};

}  // namespace lockstep::runner
