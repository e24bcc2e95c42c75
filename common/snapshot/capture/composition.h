#pragma once
// Makes one tree of several captured folders and files, each at its place below a common root. Its
// only I/O is to open the root.

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data/outputs.h"
#include "common/snapshot/capture/capture.h"

namespace lockstep::snapshot {

class Composition {
 public:
  // Adds a capture. `below`: its place in the tree, "" or "a/b". Folders at the same place are
  // merged.
  void add(const Snapshot& captured, const std::string& below);

  // Makes the snapshot: the root's digest and all folders, but no files, which the captures have.
  // Returns conflict if two captures have different entries of one name. `root`: for people, and to
  // read files again.
  Result<Snapshot> finish(const std::string& root);

 private:
  Digest folder_of_one(const std::string& name, const Digest& inside);

  std::map<Digest, std::string> objects_;
  std::vector<NodeTree> trees_;
};

// Whether the root of what was captured has an entry of this name.
bool has_entry(const Snapshot& captured, const std::string& name);

}  // namespace lockstep::snapshot
