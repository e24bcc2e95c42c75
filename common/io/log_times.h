#pragma once
// When the bytes of a log were read from their rank: a file beside the log, "<log>.times", of
// records of 16 bytes (offset and nanoseconds since 1970, both little-endian), growing in both. The
// runner writes it, the agent ships it with the bytes, the launcher keeps it. Times are for people:
// what cannot be written or read is left out, and never holds up a log.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/domain/bulk.h"

namespace lockstep::io {

class LogTimes {
 public:
  explicit LogTimes(const std::string& log_path) : path_(log_path + ".times") {}

  // Appends entries; offset and time never decrease.
  Status append(const std::vector<LogTime>& entries, int mode = 0644);
  // The entries of [begin, end), and, with `covering`, the entry that contains `begin`. If there
  // are more than `most`, some are left out evenly.
  std::vector<LogTime> between(std::uint64_t begin, std::uint64_t end, std::size_t most,
                               bool covering) const;
  // Where bytes begin that were read at `since` or later, within kLogTimeStep before. nullopt: no
  // times are known, or all are earlier.
  std::optional<std::uint64_t> first_since(Instant since) const;
  bool known() const;  // there is an entry
  // Releases the disk space of entries before `offset`.
  void free_before(std::uint64_t offset);

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace lockstep::io
