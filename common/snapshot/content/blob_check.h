#pragma once
// Checks a blob store that is not in use: whether everything below given trees is present and
// intact, and which other blobs are present. Only move_aside() and clean() change the store.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/content/blob_store.h"

namespace lockstep::snapshot {

struct BadBlob {
  Digest digest;
  std::string path;  // below the tree: "src/train.py"; "" for the tree itself
  bool missing = false;
  std::string why;
};

class BlobCheck {
 public:
  // Opens the store for a check; returns conflict if it is in use.
  static Result<std::unique_ptr<BlobCheck>> open(const std::string& root);

  // Reads and hashes all blobs below the tree that were not checked before.
  Status check(const Digest& tree, const std::function<void(const BadBlob&)>& bad);
  std::uint64_t checked() const { return seen_.size(); }
  // Blobs that no checked tree refers to.
  Result<std::vector<Digest>> others() const;
  Result<std::vector<std::string>> leftovers() const;  // the paths of incomplete uploads

  // Moves a blob that does not match its digest to <root>/bad/, so that it counts as missing.
  // Returns its new path.
  Result<std::string> move_aside(const Digest& digest);
  // Removes others() and leftovers(); returns by how many bytes the store became smaller.
  Result<std::uint64_t> clean();

 private:
  explicit BlobCheck(std::unique_ptr<BlobStore> store) : store_(std::move(store)) {}
  // Passes the blob's bytes to `take` as they are read. On success they match the digest.
  Status read(const Digest& digest, const std::function<void(std::string_view)>& take) const;
  std::unique_ptr<BlobStore> store_;
  std::unordered_set<Digest> seen_;
};

}  // namespace lockstep::snapshot
