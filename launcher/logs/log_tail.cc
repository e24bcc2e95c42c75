// Finds the place where a reader begins: at the last lines of a log, read backwards in blocks so
// that only the end of a long log is read; or at the first line since a time.

#include <algorithm>

#include "common/base/utf8.h"
#include "common/io/attempt/log_times.h"
#include "launcher/logs/log_store.h"

namespace lockstep::launcher {

Result<std::uint64_t> LogStore::tail_offset(const LogKey& key, std::uint64_t lines) {
  constexpr std::uint64_t kBlock = 64u << 10;
  TRY_ASSIGN(const LogExtent whole, extent(key));
  if (lines == 0) return whole.written;
  std::uint64_t end = whole.written;
  std::uint64_t newlines = 0;
  while (end > 0) {
    const std::uint64_t begin = end - std::min(end, kBlock);
    TRY_ASSIGN(const std::string block, read(key, begin, end - begin));
    for (std::size_t i = block.size(); i-- > 0;) {
      // The newline at the very end ends the last line, and does not begin another one.
      if (block[i] != '\n' || begin + i + 1 == whole.written) continue;
      if (++newlines == lines) return begin + i + 1;
    }
    end = begin;
  }
  return std::uint64_t{0};
}

Result<std::uint64_t> LogStore::since_offset(const LogKey& key, Instant since) {
  // The most bytes of an earlier line that are skipped.
  constexpr std::uint64_t kLongestSkip = 1u << 20;
  const io::LogTimes times(path(key));
  if (!times.known()) return std::uint64_t{0};
  TRY_ASSIGN(const LogExtent whole, extent(key));
  const std::uint64_t begin =
      std::min(times.first_since(since).value_or(whole.written), whole.written);
  if (begin == 0) return begin;
  TRY_ASSIGN(const std::string block, read(key, begin - 1, kLongestSkip));
  const auto newline = block.find('\n');
  if (newline != std::string::npos) return begin + newline;
  if (block.empty()) return begin;
  // If a line is very long, returns its rest from a whole character on.
  const auto character = tail(block, block.size() - 1);
  return begin + (block.size() - 1 - character.size());
}

std::vector<LogTime> LogStore::times(const LogKey& key, std::uint64_t begin,
                                     std::uint64_t end) const {
  return io::LogTimes(path(key)).between(begin, end, kMaxLogTimes, true);
}

Instant LogStore::time_at(const LogKey& key, std::uint64_t offset) const {
  return io::LogTimes(path(key)).at(offset);
}

}  // namespace lockstep::launcher
