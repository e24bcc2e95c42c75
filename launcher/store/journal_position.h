#pragma once
// A place in a journal, which stays the same fact's when the journal is compacted.

#include <cstdint>

#include "common/base/digest.h"

namespace lockstep::launcher {

struct JournalPosition {
  std::uint64_t generation = 0;  // compactions so far
  std::uint64_t compacted = 0;   // how many of the facts the last of them replaced
  std::uint64_t facts = 0;       // how many were ever appended up to here
  Digest chain;                  // the checksum of the last row up to here
  friend bool operator==(const JournalPosition&, const JournalPosition&) = default;
};

}  // namespace lockstep::launcher
