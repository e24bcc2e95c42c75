#pragma once
// The launcher's memory: facts in, facts out, in order, each row chained to the one before by a
// checksum. One SQLite file in WAL mode with synchronous=FULL: what append() returned for is on
// disk, and after a cut anywhere the file holds a prefix of it. It decides nothing.
//
// A row: sequence (1, 2, … without gaps), format (kFactFormat), stamp (ns), payload (fact_codec.h),
// checksum = SHA-256(previous checksum | sequence | format | stamp | payload), integers
// little-endian.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "launcher/core/fact.h"

namespace lockstep::launcher {

class Journal {
 public:
  // Creates the file when it is missing. Errors: corrupt (not a journal), unsupported (made by a
  // newer version), io.
  static Result<Journal> open(const std::string& path);
  ~Journal();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

  // Once, before the first append: every stored fact in order. Stops with corrupt at a broken
  // chain, a gap or an unreadable row, with unsupported at a row of a newer format; each names the
  // row.
  Status replay(const std::function<void(const StampedFact&)>& each);

  // All or nothing, durable when it returns. After an error the journal may not be used again.
  Status append(const std::vector<StampedFact>& facts);

  std::uint64_t last_sequence() const;

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::launcher
