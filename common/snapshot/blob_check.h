#pragma once
// Checks a blob store that is not in use: whether everything below given trees is there and
// undamaged, and which other blobs there are. Only move_aside() and clean() change anything.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/blob_store.h"

namespace lockstep::snapshot {

struct BadBlob {
  Digest digest;
  std::string path;  // below the tree: "src/train.py"; "" for the tree itself
  bool missing = false;
  std::string why;
};

class BlobCheck {
 public:
  // conflict: it is in use.
  static Result<std::unique_ptr<BlobCheck>> open(const std::string& root);

  // Reads and hashes every blob below the tree that no earlier call has checked.
  Status check(const Digest& tree, const std::function<void(const BadBlob&)>& bad);
  std::uint64_t checked() const { return seen_.size(); }
  // Blobs that no checked tree refers to.
  Result<std::vector<Digest>> others() const;
  Result<std::vector<std::string>> leftovers() const;  // half uploads: paths

  // Moves a blob that is not what it claims to be to <root>/bad/, so that it counts as missing.
  // Returns where it is now.
  Result<std::string> move_aside(const Digest& digest);
  // Removes others() and leftovers(); returns by how many bytes the store became smaller.
  Result<std::uint64_t> clean();

 private:
  explicit BlobCheck(std::unique_ptr<BlobStore> store) : store_(std::move(store)) {}
  // Its bytes go to `take` as they are read; verified when it returns.
  Status read(const Digest& digest, const std::function<void(std::string_view)>& take) const;
  std::unique_ptr<BlobStore> store_;
  std::unordered_set<Digest> seen_;
};

}  // namespace lockstep::snapshot
