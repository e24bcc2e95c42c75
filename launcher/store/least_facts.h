#pragma once
// A lower bound of the number of facts in a journal, in a small file beside it (<path>.least).
// SQLite accepts a database whose WAL is missing, and creates a database that is missing. Either
// would lose acknowledged facts silently.
//
// The file is overwritten after each commit: a process syncs the first write and leaves later ones
// to the kernel. So the number may be lower than the number of committed facts, but never higher. A
// missing file is no fault (older versions did not write it). A journal with fewer facts has lost
// rows or its WAL, except that a WAL with a torn tail may explain it.

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/io/file_system.h"
#include "launcher/store/journal_file.h"
#include "launcher/store/journal_position.h"

namespace lockstep::launcher {

// The number of all facts ever appended, including those that compactions dropped.
std::uint64_t facts_ever(const JournalBase& base, std::uint64_t rows);
// Behind so many rows, of which the last has this checksum.
JournalPosition position_of(const JournalBase& base, std::uint64_t rows, const Digest& chain);

// The files at `path` and beside it, before SQLite opens them.
struct JournalTraces {
  bool file = false, wal = false;      // the database and its WAL exist and are not empty
  std::optional<std::uint64_t> least;  // 1 when the number cannot be read: there was a commit
};
// corrupt: a WAL without its database, which SQLite would remove.
Result<JournalTraces> look_for_traces(const std::string& path);

// corrupt: these traces show that there were more facts than the journal has now.
Status expect_facts(const std::string& path, const JournalTraces& traces, const JournalBase& base,
                    std::uint64_t rows);

// The error for a journal that is missing or empty although `sign` (a file or folder) shows that
// there was one.
Error lost_journal(const std::string& path, const JournalTraces& traces, const std::string& sign);

std::string least_facts_file(const std::string& path);
// Removes the file; for callers that remove facts on purpose.
Status forget_least_facts(const std::string& path);

class LeastFacts {
 public:
  explicit LeastFacts(const std::string& path) : path_(least_facts_file(path)) {}
  // Call it after `facts` facts were committed. A failed write is retried with the next call; it
  // only means that a later loss might not be noticed.
  void record(std::uint64_t facts);

 private:
  Status begin(const std::string& text);
  std::string path_;
  io::Fd file_;
};

}  // namespace lockstep::launcher
