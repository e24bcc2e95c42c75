#pragma once
// The form of a journal's file, for those who read and write it: its tables, the chain of its rows,
// and reading them one by one. Only launcher/store uses it.
//
//   journal: one row per fact (journal.h)
//   base:    nothing, or one row: what a compaction put in place of what. The chain of the rows
//            begins with it, so that a compacted journal cannot be joined to another one's base.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "launcher/core/fact.h"
#include "launcher/store/sqlite.h"

namespace lockstep::launcher {

// Grows when an older program could not read the file. 1: without `base`.
inline constexpr std::int64_t kJournalVersion = 2;

struct JournalBase {
  std::uint64_t generation = 0;  // compactions so far; 0: none, no row
  std::uint64_t facts = 0;       // in how many facts' place its rows were written
  Digest head;                   // checksum of the last of these
  std::uint64_t kept = 0;        // rows that were written; no part of the chain
};

// The file as it is: not a journal is corrupt, a newer one unsupported (both versions named). An
// empty database becomes a journal.
Result<std::int64_t> journal_version(Database& db);
Status create_journal(Database& db);
// From `version` to kJournalVersion, in one transaction.
Status migrate_journal(Database& db, std::int64_t version);
Result<JournalBase> read_base(Database& db);
Status write_base(Database& db, const JournalBase& base);

Digest first_link(const JournalBase& base);  // in place of the checksum before row 1
Digest next_link(const Digest& previous, std::uint64_t sequence, int format, std::int64_t stamp,
                 std::string_view payload);

// The stored facts in order, each checked: chain, sequence, format, payload. It ends at the first
// that does not stand: corrupt or unsupported, naming the row.
class JournalReader {
 public:
  static Result<JournalReader> begin(Database& db, const JournalBase& base);
  // False: that was the last one.
  Result<bool> next(StampedFact* fact);
  // After the last one: that the file holds no more than what was read. A bit that flipped in a
  // page's own data can hide the rows at its end.
  Status check_pages(Database& db) const;
  std::uint64_t sequence() const { return sequence_; }  // of the last one read
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

// Adds rows behind `sequence` and `chain`, and moves both on. The caller has begun a transaction.
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
