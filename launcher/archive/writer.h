#pragma once
// Writes the archive: what a number of facts changes, in one transaction with the place of the last
// of them in the journal. So after a kill or a power cut it has the changes of all facts up to its
// mark, and of none behind it; a restart goes on from there. It is never ahead of the journal if it
// gets only facts that are durable there. One thread at a time.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/archive/change.h"
#include "launcher/archive/tables.h"

namespace lockstep::archive {

class Writer {
 public:
  // corrupt: the file is damaged, or no archive; rebuild.h makes a new one of the journal.
  static Result<Writer> open(const std::string& path);
  ~Writer();
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  // nullopt: nothing was archived yet.
  const std::optional<JournalPosition>& mark() const;

  // All or nothing. `mark`: of the last fact that the changes are of; also without changes.
  Status apply(const std::vector<Change>& changes, const JournalPosition& mark);

  // Moves what was written into the file itself, and syncs it. It is not needed to lose nothing:
  // the journal has all of it.
  Status sync();
  // Leaves all in the file itself, with nothing beside it. Nothing may be written afterwards.
  Status finish();

 private:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::archive
