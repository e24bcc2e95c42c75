#pragma once
// A look at a journal that no launcher uses: every row, also behind a broken one. It changes
// nothing but by truncate_journal.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "launcher/core/fact.h"

namespace lockstep::launcher {

struct JournalCheck {
  std::uint64_t rows = 0;
  std::optional<std::uint64_t> broken;  // the first row that does not stand
  std::vector<StampedFact> facts;       // of the rows before it
  bool lost = false;                    // facts that were there are gone, or all of them
  std::vector<std::string> problems;    // in words, at most kMaxJournalProblems and how many more
};
inline constexpr std::size_t kMaxJournalProblems = 20;

// An error: it cannot be opened at all, or a newer version wrote it. `sign` as for Journal::open.
Result<JournalCheck> check_journal(const std::string& path, const std::string& sign = "");

// For who copies it, in use or not: corrupt when it was lost, or a WAL with it.
Status expect_whole_journal(const std::string& path, const std::string& sign);

// Removes row `sequence` and all behind it. The whole file is kept beside; returns where.
Result<std::string> truncate_journal(const std::string& path, std::uint64_t sequence);

}  // namespace lockstep::launcher
