#pragma once
// Fetches files of remotes into the blob store, on threads of its own. A listing that was fetched
// before, and whose tree is still stored, is not fetched again. Users take turns, and one user can
// use only a part of the threads, because a fetch may take hours.
//
//   <folder>/trees/<digest of a listing>   the resulting tree, as hex
//   <folder>/fetching/<n>                  files that are being fetched; emptied at the start
//
// All methods are for the event loop's thread.

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/io/event_loop.h"
#include "common/snapshot/content/blob_store.h"
#include "common/snapshot/subtree.h"
#include "launcher/daemon/remotes/rclone.h"
#include "launcher/daemon/work/fair_workers.h"

namespace lockstep::launcher {

class RemoteFetcher {
 public:
  using Tell = std::function<void(const std::string&)>;
  using Then = std::function<void(Result<snapshot::Subtree>)>;
  RemoteFetcher(io::EventLoop& loop, snapshot::BlobStore& blobs, std::string folder,
                Duration silence);
  ~RemoteFetcher();  // ends the running fetches

  // Fetches files. One fetch serves all who ask for the same files while it waits or runs; it
  // begins at the first turn of one of them.
  void fetch(const std::string& principal, const RemoteFiles& files, Tell tell, Then then);
  // Tells those who wait, about once a second.
  void tell_waiting(Instant now);
  Duration wait(Instant now) const;  // The time until tell_waiting() has something to do.

  static constexpr std::size_t kAtOnce = 8, kAtOnceOfUser = 2;
  static constexpr std::size_t kMaxWaiting = 200, kMaxWaitingOfUser = 25;

 private:
  struct Fetch {
    RemoteFiles files;
    std::vector<Tell> tells;
    std::vector<Then> thens;
    std::set<std::string> principals;  // the principals in whose turns it waits
    int number = 0;
    std::atomic<bool> has_begun = false;
    std::mutex mutex;
    std::string state;  // guarded by mutex
  };
  using Key = std::array<std::string, 3>;
  Status wait_for_turn(const std::string& principal, const std::shared_ptr<Fetch>& fetch);
  void done(const std::shared_ptr<Fetch>& fetch, const Result<snapshot::Subtree>& found);
  void set_state(Fetch& fetch, std::string state) const;
  Result<snapshot::Subtree> work(Fetch& fetch, int number);
  Result<snapshot::Subtree> fetch_listing(Fetch& fetch, const Listing& listing,
                                          const std::string& below, const RcloneContext& context);
  std::optional<Digest> known_tree(const std::string& path);

  io::EventLoop& loop_;
  snapshot::BlobStore& blobs_;
  const std::string folder_;
  const Duration silence_;
  std::atomic<bool> stop_ = false;
  std::map<Key, std::shared_ptr<Fetch>> fetches_;
  int last_number_ = 0;
  Instant tell_at_;
  FairWorkers workers_;  // last member, so that it is destroyed first
};

}  // namespace lockstep::launcher
