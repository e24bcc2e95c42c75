#pragma once
// Mark and sweep of a blob store, while it is in use. It keeps everything below the trees that the
// owner marks, and blobs that were sent or asked for within the lease (blobs from before the store
// was opened: within the lease since then). Two steps, so that a blob which becomes referenced in
// between is not lost: unmarked blobs are condemned, which makes them missing for everybody; then
// the owner names its trees again, and only blobs that are still condemned are removed. For a
// worker thread; one at a time.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/snapshot/blob_store.h"

namespace lockstep::snapshot {

struct Collected {
  std::uint64_t blobs = 0;  // that were removed
  std::uint64_t bytes = 0;  // by which the files became smaller
  bool more_soon = false;   // something stayed only for its brief lease
};

class BlobCollection {
 public:
  // Whether blobs that were there when the store was opened have a lease from then on. Caches say
  // no: their blobs can be fetched again.
  enum class SinceOpened { yes, no };
  BlobCollection(BlobStore& store, Duration lease, SinceOpened since_opened = SinceOpened::yes)
      : BlobCollection(store, {lease, lease, lease}, since_opened) {}
  // Where space is short: for how long each kind is kept.
  struct Leases {
    Duration lasting, brief;  // Lease; a tree's (BlobStore::lease) is brief
    Duration opened;          // of what was there when the store was opened
  };
  BlobCollection(BlobStore& store, Leases leases, SinceOpened since_opened = SinceOpened::yes)
      : store_(store), leases_(leases), since_opened_(since_opened) {}
  // A collection that is cut short restores everything that it condemned.
  ~BlobCollection();
  BlobCollection(const BlobCollection&) = delete;
  BlobCollection& operator=(const BlobCollection&) = delete;

  // Everything below these trees stays. What of it is missing is passed over.
  Status mark(const std::vector<Digest>& trees);
  // Returns how many blobs are condemned now.
  Result<std::size_t> condemn();
  // Restores condemned blobs of these trees, which have become referenced meanwhile.
  Status spare(const std::vector<Digest>& trees);
  Result<Collected> sweep();
  // From any thread: what is under way ends soon, as unavailable.
  void stop() { stopped_ = true; }

 private:
  template <typename Each>
  Status walk(const std::vector<Digest>& trees, Each each);
  using SteadyTime = std::chrono::steady_clock::time_point;
  bool is_leased(std::optional<SteadyTime> touched, Duration lease) const;

  BlobStore& store_;
  const Leases leases_;
  const SinceOpened since_opened_;
  std::unordered_set<Digest> live_;
  bool more_soon_ = false;
  std::atomic<bool> stopped_ = false;
};

}  // namespace lockstep::snapshot
