#pragma once
// `lockstepd fsck`: a look at a launcher's home that no launcher uses. Journal (chain, pages,
// facts), the state they fold to, every blob that it refers to, the logs of ranks, the audit log.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::launcher {

struct FsckOptions {
  std::string home;
  bool repair = false;                       // only what is safe
  std::optional<std::uint64_t> truncate_at;  // the journal loses this row and all behind it
};

struct FsckReport {
  std::vector<std::string> problems;
  std::vector<std::string> notes;     // nothing to worry about
  std::vector<std::string> repaired;  // what was done about it
  std::uint64_t facts = 0, jobs = 0, blobs = 0;
};

// An error: it cannot be looked at (in use, newer, not a home).
Result<FsckReport> fsck(const FsckOptions& options);

}  // namespace lockstep::launcher
