#pragma once
// `lockstepd fsck`: checks a launcher's home that no launcher is using: the journal (chain, pages,
// facts), the state that its facts fold to, the archive of ended jobs, their metrics, every blob
// that the state refers to, the logs of ranks, and the audit log.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::launcher {

struct FsckOptions {
  std::string home;
  bool repair = false;                       // repair what is safe to repair
  std::optional<std::uint64_t> truncate_at;  // remove this row and all after it from the journal
};

struct FsckReport {
  std::vector<std::string> problems;
  std::vector<std::string> notes;     // harmless findings
  std::vector<std::string> repaired;  // the repairs that were made
  std::uint64_t facts = 0, jobs = 0, blobs = 0;
};

// An error: the home cannot be checked (in use, of a newer version, not a home).
Result<FsckReport> fsck(const FsckOptions& options);

}  // namespace lockstep::launcher
