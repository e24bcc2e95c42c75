#pragma once
// The format of a journal's file: its tables, the chain of its rows, and reading and writing of
// single rows. Only launcher/store uses it.
//
//   journal: one row per fact (journal.h)
//   base:    empty, or one row about the last compaction (JournalBase). The chain of the rows
//            begins with it, so that a compacted journal cannot be joined to another one's base.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "launcher/sqlite/database.h"
#include "launcher/state/facts/fact.h"

namespace lockstep::launcher {

// Increased when an older program could not read the file. Version 1 has no `base`.
inline constexpr std::int64_t kJournalVersion = 2;

struct JournalBase {
  std::uint64_t generation = 0;  // compactions so far; 0: none, no row
  std::uint64_t facts = 0;       // how many facts the compaction replaced
  Digest head;                   // checksum of the last of these
  std::uint64_t kept = 0;        // how many rows it wrote; not part of the chain
};

// The version of the file; 0: an empty database, which create_journal() makes a journal. corrupt:
// the file is not a journal. unsupported: its version is newer (the message names both).
Result<std::int64_t> journal_version(Database& db);
Status create_journal(Database& db);
// From `version` to kJournalVersion, in one transaction.
Status migrate_journal(Database& db, std::int64_t version);
Result<JournalBase> read_base(Database& db);
Status write_base(Database& db, const JournalBase& base);

Digest first_link(const JournalBase& base);  // in place of the checksum before row 1
Digest next_link(const Digest& previous, std::uint64_t sequence, int format, std::int64_t stamp,
                 std::string_view payload);

// Reads the stored facts in order and checks each: chain, sequence, format, payload. It ends at the
// first invalid row with corrupt or unsupported, naming the row.
class JournalReader {
 public:
  static Result<JournalReader> begin(Database& db, const JournalBase& base);
  // False: there are no more facts.
  Result<bool> next(StampedFact* fact);
  // Call it after the last fact. Checks that the file has no rows that were not read: a flipped bit
  // in a page's own data can hide the rows at its end.
  Status check_pages(Database& db) const;
  std::uint64_t sequence() const { return sequence_; }  // of the last fact read
  const Digest& chain() const { return chain_; }

 private:
  JournalReader(Statement rows, std::string path, Digest chain)
      : rows_(std::move(rows)), path_(std::move(path)), chain_(chain) {}
  Error bad_row(ErrorCode code, std::uint64_t number, const std::string& why) const;
  Statement rows_;
  std::string path_;
  Digest chain_;
  std::uint64_t sequence_ = 0;
};

// Appends rows after the one with `sequence` and `chain`, and advances both. The caller has begun a
// transaction.
class JournalWriter {
 public:
  static Result<JournalWriter> prepare(Database& db);
  Status add(const StampedFact& fact, std::uint64_t* sequence, Digest* chain);
  Status add_raw(Instant stamp, std::string_view payload, std::uint64_t* sequence, Digest* chain);

 private:
  explicit JournalWriter(Statement insert) : insert_(std::move(insert)) {}
  Statement insert_;
};

}  // namespace lockstep::launcher
