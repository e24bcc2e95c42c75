#pragma once
// Records when the bytes of a log were read from their rank, in a file "<log>.times" next to the
// log. Its records have 16 bytes (offset, and nanoseconds since 1970, both little-endian), and both
// only grow. The runner writes the file by its clock, the agent sends the times with the bytes, by
// the node's, and the launcher stores them by its own. Times are for people only: times that cannot
// be written or read are left out, and never delay a log.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/io/file_system.h"

namespace lockstep::io {

class LogTimes {
 public:
  static constexpr std::uint64_t kEntryBytes = 16;  // the size of one entry in the file

  explicit LogTimes(const std::string& log_path) : path_(log_path + ".times") {}

  // Appends entries; their offsets and times only grow. The file stays open for the next call.
  Status append(const std::vector<LogTime>& entries, int mode = 0644);
  // The entries with offsets in [begin, end). If `covering`, also the entry before them that covers
  // `begin`. Returns at most `most`: if there are more, it leaves out some at regular intervals.
  std::vector<LogTime> between(std::uint64_t begin, std::uint64_t end, std::size_t most,
                               bool covering) const;
  // The time at which the byte at `offset` was read; Instant{} if that is not known.
  Instant at(std::uint64_t offset) const;
  // The offset from which bytes may have been read at `since` or later; the first of these bytes
  // may be up to kLogTimeStep older. nullopt: no times are known, or all are earlier.
  std::optional<std::uint64_t> first_since(Instant since) const;
  bool known() const;  // whether there is an entry
  // Frees the disk space of entries before `offset`.
  void free_before(std::uint64_t offset);

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Fd appended_;  // empty until the first append
};

}  // namespace lockstep::io
