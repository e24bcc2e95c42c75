#pragma once
// Mark and sweep of a blob store, while it is in use. What stays: everything below the trees that
// the owner names, and what anybody sent or asked for within the lease (since the store was opened,
// for what was there before). Two steps, so that nothing is lost that comes to be referred to in
// between: what is not marked is condemned, which makes it missing for whoever asks; then the owner
// names its trees again, and only what is still condemned is removed. For a worker thread; one at a
// time.

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
  // Whether what was there when the store was opened is leased from then: not where everything can
  // be fetched again.
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
  // One that is cut short spares all that it condemned.
  ~BlobCollection();
  BlobCollection(const BlobCollection&) = delete;
  BlobCollection& operator=(const BlobCollection&) = delete;

  // Everything below these trees stays. What of it is missing is passed over.
  Status mark(const std::vector<Digest>& trees);
  // Returns how many blobs are condemned now.
  Result<std::size_t> condemn();
  // The trees that are referred to by now: what was condemned of them is there again.
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
