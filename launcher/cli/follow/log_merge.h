#pragma once
// Merges the logs of all ranks and environments into one readable stream. Chunks have offsets, and
// bytes that were already seen are dropped, so that a follow may be repeated and each byte is still
// shown once. Several ranks are merged line by line; each line gets a prefix, `node:rank | ` for a
// rank's log and `[environment node] ` for an environment's. A single rank's bytes pass through
// unchanged. A line may be shown before its newline came, in pieces that end between characters. If
// a line of another log then interrupts it, its rest gets the prefix `node:rank + ` or
// `[environment node]+ `. What goes to a terminal goes through printable_log(), line by line also
// for a single rank. Reads no clock and writes to no file: the output goes to a sink.
//
// A carriage return restarts a line, as tqdm's progress bars do: only the line's last state is
// written to the sink, once the line has ended. Until then live() returns its current state, one
// line per log, so that the caller can redraw it on a terminal. With `states_every`, what does not
// go to a terminal gets the last state of each such time, too, on a line of its own; but what one
// rank alone writes to standard output may be data, and passes as it is until a line has been
// restarted kExactStates times. Else, if only one rank is followed, its carriage returns pass
// through like all other bytes.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::cli {

struct MergeOptions {
  bool prefix = true;
  bool by_line = false;     // whole lines even without a prefix; a prefix implies by_line
  bool timestamps = false;  // puts a time before each line; implies by_line
  std::function<bool(std::string_view)> wanted = {};  // shows only these lines; implies by_line
  bool color = false;                                 // a colour for each rank's prefix
  // The name of a log in its prefix, and the number of its colour; empty: node and rank.
  struct Name {
    std::string text;
    std::size_t color = 0;
  };
  std::function<Name(const LogChunk&)> name_of = {};
  bool from_start = true;  // false: the first chunk of a log may begin anywhere (--tail, --since)
  Duration show_partial_after = seconds(1);  // a line without its newline; none if `wanted`
  // Whether a stream goes to a terminal, which would obey what a log holds; empty: none does.
  // Implies by_line, for that stream.
  std::function<bool(LogStream)> on_terminal = {};
  // How often a redrawn line is shown, by the times of the log, for logs that are text and do not
  // go to a terminal, unless `wanted` is set. Zero: as above.
  Duration states_every = Duration::zero();
  Instant states_since = {};  // shows only those earlier states of a line that began later (--tail)
};

class LogMerge {
 public:
  using Sink = std::function<void(LogStream stream, std::string_view bytes)>;

  LogMerge(MergeOptions options, Sink sink);

  enum class Outcome { taken, seen_before, gap };
  // Adds a chunk. gap: bytes before it are missing; nothing was taken, and the caller must resume
  // the follow.
  Outcome add(const LogChunk& chunk, Instant now);

  // The newest states of the lines that carriage returns restarted, with their prefixes, in the
  // order of the logs. They are not written yet. Empty when bytes pass through unchanged.
  std::vector<std::string> live() const;

  // Shows the lines that have waited for their newline for at least show_partial_after.
  void show_partial(Instant now);
  Instant next_deadline() const;  // never() when no line waits

  // Tells that no more comes of this job: shows the bytes that are left, and forgets its logs.
  void finish(const JobId& job);

  // Ends the stream: shows the bytes that are left, and ends an unfinished line.
  void finish();

  // The offset at which to resume an interrupted follow, for every log seen so far.
  std::vector<LogFollow::Position> positions() const;
  std::vector<LogFollow::Position> positions(const JobId& job) const;

 private:
  struct Log {
    std::uint64_t position = 0;  // the next offset
    std::string prefix;
    std::string continued;          // the prefix of the rest of an interrupted line
    bool interrupted = false;       // the next bytes are the rest of an interrupted line
    bool redrawn = false;           // an earlier state of the pending line was dropped
    std::string pending;            // not shown yet: a line without its newline
    std::uint64_t begin = 0;        // the offset of pending
    bool is_binary = false;         // carriage returns restart no line
    int exact_states = 0;           // for the line: restarts that passed as they were
    bool unended = false;           // the last bytes that passed through were not a whole line
    std::optional<Instant> second;  // a line's states: when the time of the next one to show began
    Instant since;                  // the time of pending
    std::deque<LogTime> times;      // the times of the pending and the next bytes
    std::string colors;             // in force at the end of the text that was shown on a terminal
  };
  bool by_line(const LogKey& key) const;
  std::size_t longest_held() const;
  bool thins(const LogKey& key, const Log& log) const;
  bool still_exact(const LogKey& key, Log& log) const;
  void thin(const LogKey& key, Log& log, Instant now);
  void drop_replaced_states(const LogKey& key, Log& log, Instant now);
  void replace_state(const LogKey& key, Log& log, std::string state, std::uint64_t begin,
                     Instant now);
  void write_piece(const LogKey& key, Log& log, std::string piece, std::uint64_t begin);
  void take_times(Log& log, const std::vector<LogTime>& times) const;
  void write_lines(const LogKey& key, Log& log, Instant now);
  void drop_old_states(Log& log) const;
  bool waits_for_its_end(const Log& log) const;
  std::string shown_of(std::string_view line) const;
  std::size_t showable(const LogKey& key, const Log& log) const;
  bool on_terminal(const LogKey& key) const;
  Instant deadline_of(const LogKey& key, const Log& log) const;
  void write_rest(const LogKey& key, Log& log);
  void pass_through(const LogKey& key, Log& log, std::size_t length);
  void write_pending(const LogKey& key, Log& log, std::size_t length);
  static std::optional<Instant> time_of(const Log& log, std::uint64_t offset);
  std::string head_of(Log& log, std::uint64_t offset);
  std::string prefix_of(const LogChunk& chunk, char separator) const;

  MergeOptions options_;
  Sink sink_;
  std::map<LogKey, Log> logs_;
  // The log whose unfinished line was written last, if any.
  std::optional<LogKey> open_line_;
};

// A line of this many bytes is shown without waiting for its newline. kMaxJudgedLineBytes is the
// limit when `wanted` chooses lines; then the bytes so far are matched like a whole line.
inline constexpr int kExactStates = 32;
inline constexpr std::size_t kMaxHeldLineBytes = 64u << 10;
inline constexpr std::size_t kMaxJudgedLineBytes = 1u << 20;

}  // namespace lockstep::cli
