#pragma once
// The logs of all ranks as one readable stream. Chunks come in by offset; what was seen is dropped,
// so that a follow may be repeated and each byte is still shown once. Several ranks are merged line
// by line behind a `node:rank` prefix; a single rank's bytes pass through untouched. It reads no
// clock and writes to no file: what shall be written is handed to a sink.

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
  bool prefix = true;      // false: a single rank, bytes as they are
  bool color = false;      // prefix in a colour per rank
  bool from_start = true;  // false: the first chunk of a log may begin anywhere (--tail)
  Duration show_partial_after = seconds(1);  // a line without its newline
};

class LogMerge {
 public:
  using Sink = std::function<void(LogStream stream, std::string_view bytes)>;

  LogMerge(MergeOptions options, Sink sink);

  enum class Outcome { taken, seen_before, gap };
  // gap: bytes before this chunk are missing; nothing was taken, the follow must be resumed.
  Outcome add(const LogChunk& chunk, Instant now);

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
    std::string pending;  // the line without its newline
    Instant since;        // of pending
  };
  void write_lines(const LogKey& key, Log& log, Instant now);
  void write_piece(const LogKey& key, Log& log, std::string_view piece);
  std::string prefix_of(const LogChunk& chunk) const;

  MergeOptions options_;
  Sink sink_;
  std::map<LogKey, Log> logs_;
  // The log whose unfinished line stands at the end of what was written, if any.
  std::optional<LogKey> open_line_;
};

// Bytes of a line that are held back before they are shown without a newline.
inline constexpr std::size_t kMaxHeldLineBytes = 64u << 10;

}  // namespace lockstep::cli
