#pragma once
// Serves blobs to clients and nodes. Requests go to workers; answers come back on the loop. Users
// and nodes have workers of their own, so that no user delays a node; among themselves they take
// turns (fair_workers.h). Each connection, and each user and node, may have a bounded number of
// requests in flight; those beyond are refused. Nodes that can also fetch from each other are told
// to try later when more than a few of them fetch at once.
// BulkServer decides who may read which tree, before and while it is sent; this class checks that
// a blob is part of that tree, or was sent by the peer that refers to it.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/io/event_loop.h"
#include "common/snapshot/content/blob_store.h"
#include "common/snapshot/subtree.h"
#include "common/transfer/blob_service.h"
#include "launcher/api/checks/input_references.h"
#include "launcher/core/base/action.h"
#include "launcher/daemon/blobs/output_merger.h"
#include "launcher/daemon/blobs/rights.h"
#include "launcher/daemon/work/fair_workers.h"
#include "launcher/daemon/work/worker.h"

namespace lockstep::launcher {

// The asker for blobs that are sent for a running attempt.
snapshot::Asker asker_of(const AttemptId& attempt);

class BlobService {
 public:
  enum class Sent { yes, full, gone };
  using Send =
      std::function<Sent(const std::string& peer, std::uint64_t reply_to, const BulkMessage&)>;
  BlobService(io::EventLoop& loop, snapshot::BlobStore& store, BlobLedger& ledger, Send send);

  struct From {
    std::string peer;
    PublicKey key;
    std::uint64_t sequence = 0;
    // brief for users: a submission checks its trees again. lasting for nodes: nothing checks their
    // blobs again.
    snapshot::Lease lease = snapshot::Lease::lasting;
    BlobOwner owner = {};
    std::string principal = {};  // principal_of() the sender
    bool is_node = false;
    std::string user = {};  // owner_of() the sender; "": a node
    // The running attempt that the node sends for; absent: none, or another reason.
    std::optional<AttemptId> attempt = {};
    // The attempt that has ended and for which the node sends the final outputs.
    std::optional<AttemptId> ended = {};
  };
  // Replies with the digests of the blobs to send: those that are not stored, and those that are
  // stored but are not the sender's (only sending a blob proves to have it).
  void handle(From from, MissingBlobs request);
  void handle(From from, PutBlobs request);
  // Deletes the sender's incomplete uploads of these blobs, with the pieces that wait to be stored.
  // For a request that is refused: when there is space, the sender sends the whole blobs again.
  void give_up(const From& from, const PutBlobs& request);
  // Sends blobs of the tree `request.root`, which the sender must be allowed to read. Digests that
  // are not part of that tree are refused.
  void handle(From from, GetBlobs request);
  // Tells `then`, on the loop, whether all blobs of the tree `root` are stored and belong to the
  // owner. All callers that ask about the same tree during a check share its answer. Returns
  // resource_exhausted if too many checks of this principal wait, and invalid_argument if the tree
  // is too large.
  void check(const std::string& principal, BlobOwner owner, const Digest& root,
             std::function<void(Result<bool>)> then);
  // Ends the streams of peers that have lost the right to read the tree.
  using May = std::function<bool(const From& from, const Digest& root, const JobId& job)>;
  void look_again(const May& may);
  // Sends nothing more to keys for which this is false. Without it, all keys are served.
  void only_to(std::function<bool(const PublicKey&)> is_let_in) {
    is_let_in_ = std::move(is_let_in);
  }

  // How much the tree's files and directory objects take (stored_size); `then` runs on the loop.
  void measure(const std::string& principal, const Digest& root,
               std::function<void(Result<Bytes>)> then);
  // Merges the trees, and takes the part that is asked for. The result is leased.
  void find_tree(const std::string& principal, TreeQuestion question,
                 std::function<void(Result<snapshot::Subtree>)> then);
  // Adds to the changes that have trees how their files differ, if the trees can be read. `then`
  // runs on the loop.
  void compare(const std::string& principal, std::vector<PartChange> changes,
               std::function<void(std::vector<PartChange>)> then);
  // Merges the outputs of a job of this user; the results are leased. Never refused: the job waits.
  void merge(const std::string& principal, MergeOutputs question,
             std::function<void(Result<MergedTrees>)> then);

  // Answers that a full queue held back are tried again by retry(); call it soon while this is
  // true.
  bool stalled() const { return !held_.empty(); }
  void retry();

 private:
  struct Stream {
    From from;
    std::unique_ptr<transfer::BlobReader> reader;
    std::vector<Digest> suspects = {};  // see asked_again()
    bool is_refusable = false;          // counted in refusable_streams_
    std::size_t bytes = 0;              // the size of the request
    Digest root;
    JobId job;
    std::vector<Digest> unchecked;  // requested digests not yet known to be below the root
    bool is_over = false;           // `next` is the last message
    bool is_withdrawn = false;
    std::shared_ptr<const BulkMessage> next;
  };
  // The threads for users, or those for nodes, so that neither wait for the other.
  struct WorkerGroup {
    explicit WorkerGroup(ShareBounds requests);
    Shares in_flight;      // requests and their bytes
    FairWorkers walkers;   // walk large trees, so that small requests do not wait for them
    FairWorkers checkers;  // read large blobs that may be damaged
    FairWorkers workers;
  };
  WorkerGroup& group_of(const From& from) { return from.is_node ? nodes_ : users_; }
  Status take_share(const From& from, std::size_t bytes);
  bool admit(const From& from, std::size_t bytes);
  void release(const From& from, std::size_t bytes);
  void answer_later(From from, std::size_t bytes,
                    std::function<BulkMessage(const FairWorkers::Pause&)> work);
  // Runs work that walks a tree on the users' walkers; `then` gets its result, or why it is not
  // done, on the loop.
  template <typename Value>
  void walk(const std::string& principal,
            std::function<Result<Value>(const FairWorkers::Pause&)> work,
            std::function<void(Result<Value>)> then);
  struct Put {
    From from;
    std::size_t bytes = 0;
    transfer::PutAnswer answer;
    std::vector<Digest> proven = {};  // blobs that the sender has proven to have
  };
  void store(const PutBlobs& pieces, const std::shared_ptr<Put>& put);
  Status take(Put& put, const BlobPiece& piece, bool was_here, bool is_here);
  bool is_below(const Stream& stream, const FairWorkers::Pause& pause);
  // The blobs that the same key asked for before: it may have found them damaged.
  std::vector<Digest> asked_again(const From& from, const GetBlobs& request);
  // Reads the blobs, so that the store drops those that are damaged. Large ones are read later, so
  // that the receiver does not wait for it.
  void check_intact(const From& from, const std::vector<Digest>& digests,
                    const FairWorkers::Pause& pause);
  void check_intact(const Digest& digest, const FairWorkers::Pause& pause);
  void prepare_next(Stream& stream, const FairWorkers::Pause& pause);
  void sync_puts();
  void finish(const std::shared_ptr<Stream>& stream);
  void read_next(std::shared_ptr<Stream> stream);
  void send_next(const std::shared_ptr<Stream>& stream);

  io::EventLoop& loop_;
  snapshot::BlobStore& store_;
  Send send_;
  std::function<bool(const PublicKey&)> is_let_in_;
  BlobRights rights_;
  std::unordered_map<Digest, Bytes> sizes_;       // the sizes of trees that were measured
  std::map<std::string, std::size_t> in_flight_;  // requests of each connection
  std::size_t refusable_streams_ = 0;             // streams to peers that have other sources
  using Check = std::tuple<std::string, Digest, std::vector<Digest>>;  // owner's name, root, trees
  std::map<Check, std::vector<std::function<void(Result<bool>)>>> checks_;  // the checks under way
  std::set<std::shared_ptr<Stream>> streams_;
  // Hashes of key, blob and offset, with the number of the last request for them: a repetition of
  // the same request is not a second one.
  std::unordered_map<std::size_t, std::uint64_t> asked_;
  std::mutex intact_mutex_;
  // by the time since when they are kept
  std::map<Digest, std::chrono::steady_clock::time_point> intact_;
  std::vector<std::shared_ptr<Stream>> held_;
  std::mutex puts_mutex_;
  std::vector<std::shared_ptr<Put>> puts_;  // stored, not durable yet; guarded by puts_mutex_
  Worker syncer_;  // makes puts durable: each run takes all that came during the previous one
  WorkerGroup nodes_, users_;  // last members, so that they are destroyed first
};

inline constexpr std::size_t kMaxBlobRequestsPerConnection = 256;
inline constexpr std::size_t kMaxBlobRequestsOfOne = 1024;  // the limit for one user or node
inline constexpr std::size_t kMaxRefusableStreams = 32;
// Bytes of requests that are not answered yet: pieces that are sent, digests that are asked for.
// the limit for all users together, and for all nodes together
inline constexpr std::size_t kMaxQueuedBytes = 256u << 20;
inline constexpr std::size_t kMaxQueuedBytesOfUser = 64u << 20;
inline constexpr std::size_t kMaxQueuedBytesOfNode = 128u << 20;
// Works of all users that wait for the walkers.
inline constexpr std::size_t kMaxTreeWorks = 10'000;
inline constexpr std::size_t kMaxTreeWorksOfUser = 1'000;

}  // namespace lockstep::launcher
