#pragma once
// How many facts a journal has at least, in a small file beside it (<path>.least). SQLite takes a
// database whose WAL is gone for a whole one, and a missing database for a new one: both would cost
// acknowledged facts in silence.
//
// It is written after each commit, in place: synced for the first of a process, left to the kernel
// for the others. So what it says was committed; it may say less than there is, never more, and
// nothing is wrong when it is missing (journals of before it was written). A journal that has less
// has lost its WAL or itself, unless there is a WAL whose tail may have been torn.

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/io/file_system.h"
#include "launcher/store/journal_file.h"

namespace lockstep::launcher {

// Of all facts ever appended, those that compactions dropped too.
std::uint64_t facts_ever(const JournalBase& base, std::uint64_t rows);

// What lies at `path` and beside it, before SQLite opens it.
struct JournalTraces {
  bool file = false, wal = false;      // they are there, and hold something
  std::optional<std::uint64_t> least;  // 1 when the number cannot be read: there was a commit
};
// corrupt: a WAL without its database, which SQLite would remove.
Result<JournalTraces> look_for_traces(const std::string& path);

// corrupt: with these traces there were more facts than the journal has now.
Status expect_facts(const std::string& path, const JournalTraces& traces, const JournalBase& base,
                    std::uint64_t rows);

// The journal has no tables, and `sign` (a file or folder) shows that there was one.
Error lost_journal(const std::string& path, const JournalTraces& traces, const std::string& sign);

std::string least_facts_file(const std::string& path);
// For who takes facts away on purpose.
Status forget_least_facts(const std::string& path);

class LeastFacts {
 public:
  explicit LeastFacts(const std::string& path) : path_(least_facts_file(path)) {}
  // `facts` are committed. What cannot be written is tried again with the next ones: nothing
  // depends on it but what is noticed later.
  void record(std::uint64_t facts);

 private:
  Status begin(const std::string& text);
  std::string path_;
  io::Fd file_;
};

}  // namespace lockstep::launcher
