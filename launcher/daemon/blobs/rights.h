#pragma once
// Decides which stored blobs an owner may refer to without sending them, and which trees they may
// name as their own: trees whose blobs they sent, or that are in trees of their own. Knowing a
// digest is not enough. It walks trees, so only workers call it. A tree that was found to be
// incomplete or another owner's is walked again only when that can have changed.

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/snapshot/content/blob_store.h"
#include "common/snapshot/content/reachable.h"
#include "launcher/daemon/blobs/ledger.h"

namespace lockstep::launcher {

struct BlobOwner {
  std::string name;           // "user alice", "node 7"
  std::vector<Digest> trees;  // sources of the user's jobs, or what is assigned to the node
  bool is_node = false;       // a node does not send a blob again once it was confirmed
};

class BlobRights {
 public:
  BlobRights(snapshot::BlobStore& store, BlobLedger& ledger)
      : store_(store), ledger_(ledger), trees_(store, kMaxReachableBytes) {}
  snapshot::ReachableTrees& trees() { return trees_; }

  // Returns the `digests` that do not belong to the owner, in their order.
  Result<std::vector<Digest>> foreign(const BlobOwner& owner, const std::vector<Digest>& digests,
                                      const snapshot::Pause& pause = {});
  // Whether the store has the whole tree and all its blobs are the owner's. A yes is remembered;
  // of a no, one blob that was not there or not the owner's, which is looked for first when they
  // ask again. invalid_argument, corrupt: the tree cannot be walked; remembered for a while.
  Result<bool> owns_tree(const BlobOwner& owner, const Digest& root,
                         const snapshot::Pause& pause = {});
  // Records that the owner sent these blobs.
  Status sent(const BlobOwner& owner, const std::vector<Digest>& digests);

  // Takes a piece of a blob that the store already has. An owner who has sent every piece correctly
  // has proven to have the blob; it then returns true. If all pieces came and some were wrong, it
  // returns the error that the store gives for a new blob.
  Result<bool> shown(const BlobOwner& owner, const BlobPiece& piece);

 private:
  static constexpr std::size_t kMaxReachableBytes = 128u << 20;
  using Clock = std::chrono::steady_clock;
  // Why a tree is not the owner's.
  struct NotOwned {
    std::optional<Digest> absent;                // a blob that the store did not have
    std::optional<snapshot::DigestKey> foreign;  // a blob that the owner had not sent
    std::vector<Digest> trees;   // the owner's trees in which the blob was not found
    std::optional<Error> error;  // or the tree could not be walked
    Clock::time_point until = Clock::time_point::max();
  };
  using OwnedTree = std::pair<std::string, Digest>;
  Status drop_those_of_trees(const BlobOwner& owner, std::vector<snapshot::DigestKey>& keys,
                             const snapshot::Walk& walk);
  Result<std::vector<snapshot::DigestKey>> not_sent(const BlobOwner& owner,
                                                    const std::vector<snapshot::DigestKey>& keys,
                                                    const snapshot::Pause& pause);
  Result<std::optional<NotOwned>> why_not_owned(const BlobOwner& owner, const Digest& root,
                                                const snapshot::Pause& pause);
  std::optional<NotOwned> known_not_owned(const BlobOwner& owner, const Digest& root);
  void remember(const OwnedTree& tree, std::optional<NotOwned> why);
  struct Showing {
    std::vector<bool> pieces;
    std::size_t open = 0;
    bool is_wrong = false;  // at least one piece was wrong
    std::uint64_t used = 0;
  };

  Showing& showing_of(const std::pair<std::string, Digest>& key, std::uint64_t total_size);

  snapshot::BlobStore& store_;
  BlobLedger& ledger_;
  snapshot::ReachableTrees trees_;
  std::mutex mutex_;  // guards all that follows
  std::set<OwnedTree> owned_;
  std::map<OwnedTree, NotOwned> not_owned_;
  std::map<std::pair<std::string, Digest>, Showing> showing_;
  std::uint64_t uses_ = 0;
};

}  // namespace lockstep::launcher
