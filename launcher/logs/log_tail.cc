// Where the last lines of a log begin: read backwards in blocks, so that a long log costs no more
// than its end.

#include <algorithm>

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
      // The newline at the very end closes the last line; it does not begin another.
      if (block[i] != '\n' || begin + i + 1 == whole.written) continue;
      if (++newlines == lines) return begin + i + 1;
    }
    end = begin;
  }
  return std::uint64_t{0};
}

}  // namespace lockstep::launcher
