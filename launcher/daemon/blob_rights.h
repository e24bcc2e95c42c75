#pragma once
// Which blobs somebody may refer to, in an upload's question or as a tree of theirs: those that
// they sent, and those of trees that are theirs already. Knowing a digest is not enough. For
// workers: it walks trees.

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/snapshot/blob_store.h"
#include "common/snapshot/reachable.h"
#include "launcher/daemon/blob_ledger.h"

namespace lockstep::launcher {

struct BlobOwner {
  std::string name;           // "user alice", "node 7"
  std::vector<Digest> trees;  // theirs: sources of their jobs, or what is assigned to the node
  bool is_node = false;       // it does not send again what it told of
};

class BlobRights {
 public:
  BlobRights(snapshot::BlobStore& store, BlobLedger& ledger)
      : store_(store), ledger_(ledger), trees_(store, kMaxReachableBytes) {}
  snapshot::ReachableTrees& trees() { return trees_; }

  // Those of `digests` that are not the owner's, in their order.
  Result<std::vector<Digest>> foreign(const BlobOwner& owner, const std::vector<Digest>& digests);
  // Whether the tree is here, whole, and all of it the owner's. Remembered.
  Result<bool> owns_tree(const BlobOwner& owner, const Digest& root);
  Status sent(const BlobOwner& owner, const std::vector<Digest>& digests);

  // Handles a piece of a blob that is stored already: a sender proves to have the blob by sending
  // all its pieces correctly. True: proven. An error, the same as for a new blob: all pieces came
  // and do not match the digest.
  Result<bool> shown(const BlobOwner& owner, const BlobPiece& piece);

 private:
  static constexpr std::size_t kMaxReachableBytes = 128u << 20;
  Status drop_those_of_trees(const BlobOwner& owner, std::vector<snapshot::DigestKey>& keys);
  struct Showing {
    std::vector<bool> pieces;
    std::size_t open = 0;
    bool is_wrong = false;  // one of them
    std::uint64_t used = 0;
  };

  Showing& showing_of(const std::pair<std::string, Digest>& key, std::uint64_t total_size);

  snapshot::BlobStore& store_;
  BlobLedger& ledger_;
  snapshot::ReachableTrees trees_;
  std::mutex mutex_;  // of what follows
  std::set<std::pair<std::string, Digest>> owned_;
  std::map<std::pair<std::string, Digest>, Showing> showing_;
  std::uint64_t uses_ = 0;
};

}  // namespace lockstep::launcher
