#pragma once
// Captures the ranks' stdout and stderr: one pipe per stream and rank, drained on the loop into
// append-only files, with the times of their bytes in files beside them. Output that cannot be
// written (a full disk), or that exceeds the spool before the launcher has taken older output,
// stays in the pipe: the rank blocks, and nothing is lost. Output beyond the limit of a job's logs
// is read and dropped; a line in the log says where. The disk space of output that the launcher has
// taken is freed, except for the tail that a failure report quotes. It owns pipes and files; it
// never interprets the output, and sends it nowhere.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/domain/ranks/exit_report.h"
#include "common/domain/ranks/limits.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "runner/logs/clock_note.h"

namespace lockstep::runner {

inline constexpr Bytes kDefaultLogSpool = gibibytes(1);

class LogCapture {
 public:
  // Captures the logs. `spool`: the most output, of all ranks together, that is stored while the
  // launcher has not taken it. Any stream may use one half; the other half is divided equally among
  // the streams, so that one loud rank cannot block the others. `limit`: the most output with its
  // times, of all ranks together, that is kept at all; divided in the same way.
  LogCapture(io::EventLoop& loop, io::AttemptDir directory, Bytes spool = kDefaultLogSpool,
             Bytes limit = kDefaultLogLimit);
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  struct Writers {
    io::Fd out, err;
  };
  // The pipe ends that become the rank's stdout and stderr; the caller closes them once the rank
  // has them. They belong to `uid`, so that the rank may open /dev/stdout.
  Result<Writers> open(int rank, std::uint32_t uid);

  // The bytes, from the start of each log, that are on the launcher's disk. Late and repeated calls
  // are harmless.
  void taken(const std::vector<LogSize>& durable);

  // Reads the pipes of a rank now, even if the spool is full. False: the disk is full.
  bool take_now(int rank);

  // Reads the rest from the pipes, even if the spool is full, closes them, and syncs the files;
  // called when no process of ours is left. False: the disk is full; call it again after
  // retry_at().
  bool drain();
  std::vector<LogSize> sizes() const;
  Bytes times() const;  // the size of the files with the times, of all ranks together
  std::string stderr_tail(int rank) const;  // the last kStderrTailBytes, even if they were dropped

  // Drops output that cannot be written, instead of blocking the rank, from now on. For an attempt
  // that must end because it fills the disk.
  void give_up_on_disk();

  // The amount that a rank has written to both streams, kept or not.
  struct Written {
    std::int64_t bytes = 0, lines = 0;
  };
  Written written(int rank) const;

  // The output beyond the limit, or dropped after give_up_on_disk().
  struct Dropped {
    int ranks = 0;
    int first_rank = -1;
    std::uint64_t bytes = 0;
  };
  Dropped dropped() const;

  // The time of the next retry() while a rank may be blocked, and the reason once a rank is
  // blocked. never() and "" otherwise.
  Instant retry_at() const { return retry_at_; }
  const std::string& blocked_reason() const { return reason_; }
  void retry(Instant now);

 private:
  struct Stream;
  void watch(Stream& stream);
  void take_some(Stream& stream);
  std::uint64_t read_some(Stream& stream, std::uint64_t most);
  ssize_t read_pipe(Stream& stream, std::uint64_t most);
  std::uint64_t drop_some(Stream& stream);
  void note_clock();
  bool flush(Stream& stream);
  void make_durable(const std::vector<Stream*>& dirty);
  void pause(Stream& stream);
  void resume_paused();
  void close(Stream& stream);
  std::uint64_t share() const;
  std::uint64_t room(const Stream& stream) const;
  std::uint64_t left_to_keep(const Stream& stream) const;
  void free_taken(Stream& stream, std::uint64_t at_least);
  bool retry_disk();
  std::string spool_reason() const;

  io::EventLoop& loop_;
  io::AttemptDir directory_;
  const std::uint64_t spool_bytes_, limit_bytes_;
  io::SystemClock clock_;  // gives the times of the output
  ClockNote clock_note_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::map<std::pair<int, LogStream>, Stream*> by_key_;
  const Stream* last_read_ = nullptr;
  std::uint64_t spooled_ = 0;  // bytes written and not taken, all streams
  std::uint64_t kept_ = 0;     // bytes written, with their times, all streams
  // Not zero-initialised, so that only the pages that are used take memory.
  const std::unique_ptr<char[]> buffer_;
  bool waits_for_disk_ = true;
  Instant retry_at_ = Instant::never();
  std::optional<Instant> paused_since_;  // since then, no paused stream has resumed
  std::string reason_;
};

}  // namespace lockstep::runner
