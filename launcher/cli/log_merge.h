#pragma once
// The logs of all ranks and environments as one readable stream. Chunks come in by offset; what was
// seen is dropped, so that a follow may be repeated and each byte is still shown once. Several
// ranks are merged line by line behind a `node:rank | ` prefix, `[environment node] ` for an
// environment's lines; a single rank's bytes pass through untouched. A line that is shown before
// its newline came, and then interrupted by a line of another log, goes on behind `node:rank + `,
// `[environment node]+ `. It reads no clock and writes to no file: what shall be written is handed
// to a sink.
//
// A carriage return begins a line anew (tqdm): of the line's states only the last is written, once
// the line has ended. Until then a terminal redraws it: live() has one line for each log that has
// such a line. A single rank's carriage returns pass through like its other bytes.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "common/domain/bulk.h"

namespace lockstep::cli {

struct MergeOptions {
  bool prefix = true;
  bool by_line = false;     // whole lines even without a prefix; a prefix implies it
  bool timestamps = false;  // before each line; implies it too
  std::function<bool(std::string_view)> wanted = {};  // lines to show, no other; implies it too
  bool color = false;                                 // ranks' prefixes, in a colour each
  bool from_start = true;  // false: the first chunk of a log may begin anywhere (--tail, --since)
  Duration show_partial_after = seconds(1);  // a line without its newline; none if `wanted`
};

class LogMerge {
 public:
  using Sink = std::function<void(LogStream stream, std::string_view bytes)>;

  LogMerge(MergeOptions options, Sink sink);

  enum class Outcome { taken, seen_before, gap };
  // gap: bytes before this chunk are missing; nothing was taken, the follow must be resumed.
  Outcome add(const LogChunk& chunk, Instant now);

  // The newest states of lines that carriage returns began anew, with their prefixes, in the order
  // of the logs; empty where only bytes pass through. They are not written yet.
  std::vector<std::string> live() const;

  // Shows lines that have waited for their newline until `now`.
  void show_partial(Instant now);
  Instant next_deadline() const;  // never() when no line waits

  // The end: what is left is shown, and an open line is closed.
  void finish();

  // Where an interrupted follow goes on, for every log seen so far.
  std::vector<LogFollow::Position> positions() const;

 private:
  struct Log {
    std::uint64_t position = 0;  // next offset
    std::string prefix;
    std::string continued;      // the prefix of the rest of an interrupted line
    bool interrupted = false;   // what comes next is such a rest
    bool redrawn = false;       // of what is pending, an earlier state was dropped
    std::string pending;        // what is not shown yet: the line without its newline
    Instant since;              // of pending
    std::deque<LogTime> times;  // of what is pending, and of what comes
    std::uint64_t pending_offset() const { return position - pending.size(); }
  };
  bool lines() const;
  std::size_t longest_held() const;
  void take_times(Log& log, const std::vector<LogTime>& times) const;
  void write_lines(const LogKey& key, Log& log, Instant now);
  void drop_old_states(Log& log) const;
  bool waits_for_its_end(const Log& log) const;
  std::string shown_of(std::string_view line) const;
  void write_pending(const LogKey& key, Log& log, std::size_t length);
  std::string head_of(Log& log, std::uint64_t offset);
  std::string prefix_of(const LogChunk& chunk, char separator) const;

  MergeOptions options_;
  Sink sink_;
  std::map<LogKey, Log> logs_;
  // The log whose unfinished line stands at the end of what was written, if any.
  std::optional<LogKey> open_line_;
};

// Bytes of a line that are held back before they are shown without a newline; where lines are
// chosen, before what is there is judged like a line.
inline constexpr std::size_t kMaxHeldLineBytes = 64u << 10;
inline constexpr std::size_t kMaxJudgedLineBytes = 1u << 20;

}  // namespace lockstep::cli
