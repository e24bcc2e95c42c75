#pragma once
// Checks every row of a journal that no launcher is using, including those after a broken one. Only
// truncate_journal changes the journal.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "launcher/state/facts/fact.h"

namespace lockstep::launcher {

struct JournalCheck {
  std::uint64_t rows = 0;
  std::optional<std::uint64_t> broken;  // the first invalid row
  std::vector<StampedFact> facts;       // the facts of the rows before it
  bool lost = false;                    // some or all facts that were in it are missing
  std::vector<std::string> problems;    // at most kMaxJournalProblems texts, and the number of more
};
inline constexpr std::size_t kMaxJournalProblems = 20;

// Checks a journal. Returns an error if it cannot be opened, or if a newer version wrote it. `sign`
// as for Journal::open.
Result<JournalCheck> check_journal(const std::string& path, const std::string& sign = "");

// Returns corrupt if the journal or its WAL is lost; for callers that copy it, in use or not.
Status expect_whole_journal(const std::string& path, const std::string& sign);

// Removes row `sequence` and all after it. Keeps a copy of the whole file and returns its path.
Result<std::string> truncate_journal(const std::string& path, std::uint64_t sequence);

}  // namespace lockstep::launcher
