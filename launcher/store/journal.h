#pragma once
// Stores the launcher's facts in order and replays them; a checksum chains each row to the one
// before. It is one SQLite file in WAL mode with synchronous=FULL: when append() returns, its facts
// are on disk, and after a crash at any point the file holds a prefix of the appended facts.
//
// A row: sequence (1, 2, … without gaps), format (kFactFormat), stamp (ns), payload (fact_codec.h),
// checksum = SHA-256(previous checksum | sequence | format | stamp | payload), integers
// little-endian. Row 1 is chained to the base (journal_file.h): zeros, or that of a compaction.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "launcher/state/facts/fact.h"
#include "launcher/store/journal_position.h"

namespace lockstep::launcher {

// A shorter journal in its own file, which can replace the first rows of another journal.
struct CompactedJournal {
  std::string path;
  std::uint64_t instead_of = 0;  // how many rows of the other journal it replaces
  std::uint64_t kept = 0;        // how many rows it has
  Digest chain;                  // the checksum of its last row
};

class Journal {
 public:
  // Creates the file if it is missing, unless `sign` names a file or folder that shows that there
  // was a journal. A journal of an older version is migrated; a copy of it (<path>.v1) is kept
  // until the new one was replayed. Errors: corrupt (not a journal, or the journal is lost),
  // unsupported (made by a newer version; the message names both), io.
  static Result<Journal> open(const std::string& path, const std::string& sign = "");
  ~Journal();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

  // Calls `each` with every stored fact in order; to be called once, before the first append. It
  // stops with corrupt at a broken chain, a gap or an unreadable row, and with unsupported at a row
  // of a newer format; the error names the row. It is also corrupt if facts are missing at the end
  // (least_facts.h).
  Status replay(const std::function<void(const StampedFact&)>& each);
  // The same, with the position of each fact. That of a row that a compaction wrote is not the
  // fact's own, but ascends too.
  using EachPlaced = std::function<void(const StampedFact&, const JournalPosition&)>;
  Status replay_placed(const EachPlaced& each);

  // Adds facts to what the next append() makes durable; before it they are not in the journal, and
  // a crash takes them. After an error the journal may not be used again.
  Status stage(const std::vector<StampedFact>& facts);
  // What was staged and `facts`: all or nothing, durable when it returns. After an error the
  // journal may not be used again.
  Status append(const std::vector<StampedFact>& facts);

  // Adds the facts appended since the compaction to `compacted`, and then replaces this journal's
  // file by it. A crash leaves either file whole. unavailable: not possible now (another process
  // reads the journal, or the facts could not be added), and nothing changed. After any other error
  // the journal may not be used again.
  Status replace_with(const CompactedJournal& compacted);

  JournalPosition position() const;  // of the last durable fact
  std::uint64_t last_sequence() const;
  std::uint64_t kept_by_compaction() const;  // rows the last compaction wrote; 0: never compacted

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Reads the journal at `path` up to its present last row, over its own connection, and writes the
// compacted facts durably to `<path>.compact`, after checking that they fold to the same state.
// Workers call it; the journal may be appended to meanwhile. After an error no file is left.
Result<CompactedJournal> compact_journal(const std::string& path);
// Calls `each` with the facts of the journal at `path` up to its present last row, over its own
// connection, and returns the position of that; it may be appended to meanwhile. Stops at the first
// error, of `each` too.
Result<JournalPosition> read_journal(
    const std::string& path,
    const std::function<Status(const StampedFact&, const JournalPosition&)>& each);

// Removes the file of an interrupted compaction.
Status discard_compaction(const std::string& path);

// Copies the journal at `path` as it is at this moment; it may be appended to meanwhile.
Status copy_journal(const std::string& path, const std::string& to);

}  // namespace lockstep::launcher
