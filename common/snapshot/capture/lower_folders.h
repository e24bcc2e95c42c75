#pragma once
// Finds the visible entries of an overlay's lower tree: those that its upper directory neither
// replaces nor hides, by the rules of overlayfs. Does no I/O.

#include <cstdint>
#include <vector>

#include "common/base/bytes.h"
#include "common/snapshot/capture/capture_options.h"
#include "common/snapshot/capture/scanned.h"

namespace lockstep::snapshot {

class LowerFolders {
 public:
  // `lower` may be null: there is no lower tree. Both must outlive this object.
  LowerFolders(const Scan& upper, const LowerTree* lower);

  // Adds the visible lower entries to `directory`, which has the upper entries of folder `index`.
  void show_through(std::size_t index, Directory& directory);

  std::uint64_t files() const { return files_; }  // added files, with those in added folders
  Bytes total() const { return total_; }

 private:
  const Directory* find(const Digest& digest) const;
  void count(const Entry& entry, int depth);

  const Scan& upper_;
  const LowerTree* lower_;
  std::vector<const Directory*> below_;  // lower directory of each upper folder; null: none
  std::uint64_t files_ = 0;
  Bytes total_;
};

}  // namespace lockstep::snapshot
