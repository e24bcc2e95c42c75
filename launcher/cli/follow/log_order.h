#pragma once
// Puts the logs of a job in the order of time, as a reader saw them live. The launcher sends chunks
// of many lines, the oldest begin first, so a line may be passed on once a chunk has come that
// begins later; until then it is held. While no other log waits at the launcher, nothing is held.
// The order within a log never changes. A line, or a state of a line that carriage returns restart,
// has the time of its first byte. Bytes without a time are older than all others.
//
// The logs of several jobs (a pipeline's steps) are ordered, too: expect() names the jobs of which
// more comes. Reads no clock; holds at most about kMaxHeldLogBytes.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::cli {

inline constexpr std::size_t kMaxHeldLogBytes = 32u << 20;

class LogOrder {
 public:
  // Gets whole lines of one log if possible, with their times.
  using Sink = std::function<void(LogChunk)>;

  // from_start false: the first chunk of a log may begin anywhere (--tail, --since).
  LogOrder(bool from_start, Sink sink) : from_start_(from_start), sink_(std::move(sink)) {}

  enum class Outcome { taken, seen_before, gap };
  // Adds a chunk. gap: bytes before it are missing; nothing was taken, and the caller must resume
  // the follow.
  Outcome add(LogChunk chunk);

  // Tells that nothing of this job comes that is older than `from`: nothing later is passed on
  // before done().
  void expect(const JobId& job, Instant from);
  // How far the job's chunks have come; the instant of expect() before the first.
  Instant reached(const JobId& job) const;
  void done(const JobId& job);  // tells that all logs of the job have come

  bool holds() const { return !order_.empty(); }
  bool holds(const JobId& job) const;
  void release_all();

  // The offset at which to resume an interrupted follow, for every log seen so far.
  std::vector<LogFollow::Position> positions() const;
  std::vector<LogFollow::Position> positions(const JobId& job) const;

 private:
  struct Log {
    LogChunk head;               // the log's key, without data
    std::uint64_t position = 0;  // next offset
    std::string data;            // held
    std::size_t passed = 0;      // the bytes of `data` that were passed on
    std::deque<LogTime> times;   // the times of the held bytes
    Instant at;                  // the time of the next byte to pass on; never goes back
    std::uint64_t next_offset() const { return position - (data.size() - passed); }
  };
  using Turn = std::pair<Instant, LogKey>;

  Outcome place(const LogChunk& chunk, Log** log);
  void hold(Log& log, LogChunk chunk);
  void release(Instant until);
  void pass_on(const LogKey& key, Instant until);
  std::size_t end_of_run(const Log& log, Instant until) const;
  Instant oldest_expected() const;

  const bool from_start_;
  const Sink sink_;
  std::map<LogKey, Log> logs_;
  std::set<Turn> order_;  // the logs that hold bytes
  std::size_t held_ = 0;
  std::map<JobId, Instant> expected_;
};

}  // namespace lockstep::cli
