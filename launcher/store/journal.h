#pragma once
// The launcher's memory: facts in, facts out, in order, each row chained to the one before by a
// checksum. One SQLite file in WAL mode with synchronous=FULL: what append() returned for is on
// disk, and after a cut anywhere the file holds a prefix of it. It decides nothing.
//
// A row: sequence (1, 2, … without gaps), format (kFactFormat), stamp (ns), payload (fact_codec.h),
// checksum = SHA-256(previous checksum | sequence | format | stamp | payload), integers
// little-endian. Before row 1 stands the base (journal_file.h): zeros, or that of a compaction.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "launcher/core/fact.h"

namespace lockstep::launcher {

// A shorter journal in a file beside, to take the place of the first rows of another.
struct CompactedJournal {
  std::string path;
  std::uint64_t instead_of = 0;  // rows of the other one
  std::uint64_t kept = 0;        // rows in it
  Digest chain;                  // of its last row
};

class Journal {
 public:
  // Creates the file when it is missing, unless `sign` names what shows that there was one (a file
  // or folder). An older one is migrated, and a copy of it stays beside (<path>.v1) until it was
  // replayed. Errors: corrupt (not a journal, or a lost one), unsupported (made by a newer version:
  // both are named), io.
  static Result<Journal> open(const std::string& path, const std::string& sign = "");
  ~Journal();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

  // Once, before the first append: every stored fact in order. Stops with corrupt at a broken
  // chain, a gap or an unreadable row, with unsupported at a row of a newer format; each names the
  // row. Corrupt as well: there were more (least_facts.h).
  Status replay(const std::function<void(const StampedFact&)>& each);

  // All or nothing, durable when it returns. After an error the journal may not be used again.
  Status append(const std::vector<StampedFact>& facts);

  // Takes the place of this journal's file, after what was appended since is added to it. Whatever
  // happens, the file is the one or the other, whole. unavailable: another process reads the
  // journal, and all is as before. After any other error the journal may not be used again.
  Status replace_with(const CompactedJournal& compacted);

  std::uint64_t last_sequence() const;
  std::uint64_t kept_by_compaction() const;  // so many of its rows; 0: never compacted

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Reads the journal at `path` up to its last row at this moment, over a connection of its own, and
// writes what is left of it to `<path>.compact`, checked to fold to the same state, and durable.
// For a worker; the journal may be appended to meanwhile. Errors leave nothing behind.
Result<CompactedJournal> compact_journal(const std::string& path);
// Removes what a compaction that was cut short left.
Status discard_compaction(const std::string& path);

// A whole copy of the journal at `path` as it is at this moment, while it is appended to.
Status copy_journal(const std::string& path, const std::string& to);

}  // namespace lockstep::launcher
