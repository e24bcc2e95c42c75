#pragma once
// Garbage collection (mark and sweep) of a blob store while it is in use. It keeps every blob below
// the trees that the owner names, and every blob that was sent or asked for within its lease. For a
// blob that was there when the store was opened, the lease begins at that time. The collection has
// two steps, so that no blob is lost that gets a reference meanwhile. First, unmarked blobs are
// condemned, and from then on count as missing. Then the owner names its trees again, and only
// blobs that are still condemned are removed. Runs on a worker thread; one at a time.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/snapshot/content/blob_store.h"

namespace lockstep::snapshot {

struct LeasedTree;
struct Touched;

// The time for which a blob of a released tree stays after its job last sent or asked for it: the
// job's next tree may have it.
inline constexpr Duration kReleasedLease = seconds(10);

struct Collected {
  std::uint64_t blobs = 0;  // removed
  std::uint64_t bytes = 0;  // freed on disk
  bool more_soon = false;   // some blobs stayed only for a brief lease
};

class BlobCollection {
 public:
  // Whether blobs that were there when the store was opened have a lease from that time on. `no`
  // for stores whose blobs can all be fetched again.
  enum class SinceOpened { yes, no };
  BlobCollection(BlobStore& store, Duration lease, SinceOpened since_opened = SinceOpened::yes)
      : BlobCollection(store, {lease, lease, lease}, since_opened) {}
  // How long each kind of lease lasts. Shorter ones are used when space is short.
  struct Leases {
    Duration lasting, brief;  // see Lease; a tree's lease (BlobStore::lease) is brief
    Duration opened;          // the lease of blobs that were there when the store was opened
    Duration released = kReleasedLease;  // see release()
  };
  BlobCollection(BlobStore& store, Leases leases, SinceOpened since_opened = SinceOpened::yes)
      : store_(store), leases_(leases), since_opened_(since_opened) {}
  // The blobs that an unfinished collection condemned stay.
  ~BlobCollection();
  BlobCollection(const BlobCollection&) = delete;
  BlobCollection& operator=(const BlobCollection&) = delete;

  // Trees that a running job has replaced by newer ones. If only that job has sent or asked for
  // their blobs, these have a lease of `released` only. Call it before condemn().
  struct Released {
    Digest tree;
    Asker asker = 0;
    // Blobs that the job has sent or asked for since then belong to a newer version, and have their
    // full lease.
    std::chrono::steady_clock::time_point at = std::chrono::steady_clock::time_point::max();
  };
  void release(std::vector<Released> trees);
  // Marks everything below these trees to be kept. Missing blobs are skipped.
  Status mark(const std::vector<Digest>& trees);
  // Returns how many blobs are condemned now.
  Result<std::size_t> condemn();
  // Keeps condemned blobs below `trees`, all trees that are referred to now.
  Status spare(const std::vector<Digest>& trees);
  Result<Collected> sweep();
  // Ends a call in progress soon with `unavailable`. From any thread.
  void stop() { stopped_ = true; }

 private:
  template <typename Each>
  Status walk(const std::vector<Digest>& trees, Each each);
  using SteadyTime = std::chrono::steady_clock::time_point;
  bool is_leased(std::optional<SteadyTime> touched, Duration lease) const;
  Status walk_released();
  bool is_tree_leased(const LeasedTree& tree) const;
  std::vector<Digest> leased_trees();
  void condemn_unleased(const std::vector<Digest>& all);
  bool is_kept_for_asker(const Digest& digest, const Touched& touched) const;

  BlobStore& store_;
  const Leases leases_;
  const SinceOpened since_opened_;
  std::unordered_set<Digest> live_;
  std::vector<Released> released_;
  // Blobs that are not live, with the last tree that had them.
  std::unordered_map<Digest, Released> released_blobs_;
  bool more_soon_ = false;
  std::atomic<bool> stopped_ = false;
};

}  // namespace lockstep::snapshot
