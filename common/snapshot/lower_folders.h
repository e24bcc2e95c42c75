#pragma once
// What shows through an overlay: the entries of its lower tree that its upper directory neither
// replaces nor hides, as overlayfs shows them. Pure: folders and objects in, entries out.

#include <cstdint>
#include <vector>

#include "common/base/bytes.h"
#include "common/snapshot/capture.h"
#include "common/snapshot/scan.h"

namespace lockstep::snapshot {

class LowerFolders {
 public:
  // `lower` may be null: nothing lies below. Both outlive this.
  LowerFolders(const Scan& upper, const LowerTree* lower);

  // Adds to `directory`, which holds the upper entries of folder `index`, what shows through.
  void show_through(std::size_t index, Directory& directory);

  std::uint64_t files() const { return files_; }  // that were added, in folders too
  Bytes total() const { return total_; }

 private:
  const Directory* find(const Digest& digest) const;
  void count(const Entry& entry, int depth);

  const Scan& upper_;
  const LowerTree* lower_;
  std::vector<const Directory*> below_;  // of each upper folder; null: nothing shows through
  std::uint64_t files_ = 0;
  Bytes total_;
};

}  // namespace lockstep::snapshot
