#include "launcher/daemon/blob_service.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "common/snapshot/manifest.h"
#include "common/snapshot/tree_difference.h"
#include "common/snapshot/tree_merge.h"
#include "common/snapshot/tree_size.h"
#include "launcher/daemon/output_merger.h"

namespace lockstep::launcher {
namespace {

// The answer does not tell whether such a blob exists.
constexpr const char* kNotBelow = "the requested blob is not part of the named tree";
constexpr std::size_t kMaxAskedRemembered = 1'000'000, kMaxIntactRemembered = 100'000;
constexpr std::uint64_t kMaxCheckedAtOnce = 64u << 20;
constexpr Duration kIntactFor = minutes(1);  // a blob is not read again for so long
constexpr const char* kWithdrawn = "this key may not read this tree any more";

// The requested digests that the owner has to send: those that are not stored, and those that are
// stored but not reachable from the owner's trees. In the order of the request.
BulkMessage answer_missing(snapshot::BlobStore& store, BlobRights& rights, const BlobOwner& owner,
                           const MissingBlobs& request, snapshot::Lease lease) {
  auto missing = store.missing(request.digests, lease);
  if (!missing) return transfer::refusal(missing.error());
  if (missing->size() == request.digests.size()) return MissingBlobsReply{*std::move(missing)};
  const std::unordered_set<Digest> not_here(missing->begin(), missing->end());
  std::vector<Digest> here;
  for (const Digest& digest : request.digests)
    if (not_here.count(digest) == 0) here.push_back(digest);
  auto foreign = rights.foreign(owner, here);
  if (!foreign) return transfer::refusal(foreign.error());
  if (foreign->empty()) return MissingBlobsReply{*std::move(missing)};
  const std::unordered_set<Digest> others(foreign->begin(), foreign->end());
  MissingBlobsReply reply;
  for (const Digest& digest : request.digests)
    if (not_here.count(digest) != 0 || others.count(digest) != 0) reply.missing.push_back(digest);
  return reply;
}

}  // namespace

BlobService::BlobService(io::EventLoop& loop, snapshot::BlobStore& store, BlobLedger& ledger,
                         Send send)
    : loop_(loop), store_(store), send_(std::move(send)), rights_(store, ledger) {}

std::string BlobService::limit_reached(const From& from, std::size_t bytes) const {
  const auto requests = in_flight_.find(from.peer);
  const bool is_busy = requests != in_flight_.end() && requests->second >= kMaxBlobRequestsPerPeer;
  if (is_busy || queued_bytes_ + bytes > kMaxQueuedUploadBytes)
    return "the launcher has too many blob requests in flight";
  const auto mine = of_user_.find(from.user);
  const std::size_t queued = mine == of_user_.end() ? 0 : mine->second;
  if (from.user.empty() || queued + bytes <= kMaxQueuedUploadBytesPerUser) return "";
  return fmt::format(
      "user '{}' already has {} bytes of uploads in flight, and the maximum is {}; the refused "
      "upload is retried when some of these bytes are stored",
      from.user, queued, kMaxQueuedUploadBytesPerUser);
}

bool BlobService::admit(const From& from, std::size_t bytes) {
  if (auto limit = limit_reached(from, bytes); !limit.empty()) {
    (void)send_(from.peer, from.sequence, BulkRefused{std::move(limit), true});
    return false;
  }
  ++in_flight_[from.peer];
  queued_bytes_ += bytes;
  if (!from.user.empty() && bytes > 0) of_user_[from.user] += bytes;
  return true;
}

void BlobService::release(const From& from, std::size_t bytes) {
  queued_bytes_ -= bytes;
  if (--in_flight_[from.peer] == 0) in_flight_.erase(from.peer);
  const auto mine = of_user_.find(from.user);
  if (mine != of_user_.end() && (mine->second -= bytes) == 0) of_user_.erase(mine);
}

void BlobService::answer_later(From from, std::size_t bytes, std::function<BulkMessage()> work) {
  worker_.run([this, from = std::move(from), bytes, work = std::move(work)] {
    auto reply = std::make_shared<BulkMessage>(work());
    loop_.post([this, from, bytes, reply] {
      release(from, bytes);
      (void)send_(from.peer, from.sequence, *reply);
    });
  });
}

void BlobService::handle(From from, MissingBlobs request) {
  if (!admit(from, 0)) return;
  const snapshot::Lease lease = from.lease;
  BlobOwner owner = from.owner;
  answer_later(std::move(from), 0,
               [this, lease, owner = std::move(owner), request = std::move(request)] {
                 return answer_missing(store_, rights_, owner, request, lease);
               });
}

void BlobService::handle(From from, PutBlobs request) {
  std::size_t bytes = 0;
  for (const auto& piece : request.pieces) bytes += piece.data.size();
  if (!admit(from, bytes)) return;
  auto pieces = std::make_shared<const PutBlobs>(std::move(request));
  auto put = std::make_shared<Put>(Put{std::move(from), bytes, {}});
  worker_.run([this, pieces = std::move(pieces), put = std::move(put)] {
    put->answer = transfer::put(store_, *pieces, put->from.key.value, put->from.lease,
                                [&](const BlobPiece& piece, bool was_here, bool is_here) {
                                  return take(*put, piece, was_here, is_here);
                                });
    {
      const std::lock_guard guard(puts_mutex_);
      puts_.push_back(put);
    }
    syncer_.run([this] { sync_puts(); });
  });
}

// One that came whole was verified; of one that is here already what is sent is compared.
Status BlobService::take(Put& put, const BlobPiece& piece, bool was_here, bool is_here) {
  bool is_proven = is_here;
  if (was_here) {
    TRY_ASSIGN(is_proven, rights_.shown(put.from.owner, piece));
  }
  if (is_proven) put.proven.push_back(piece.digest);
  return {};
}

void BlobService::sync_puts() {
  std::vector<std::shared_ptr<Put>> puts;
  {
    const std::lock_guard guard(puts_mutex_);
    puts.swap(puts_);
  }
  if (puts.empty()) return;  // an earlier turn took them
  std::vector<transfer::PutAnswer*> answers;
  for (const auto& put : puts) answers.push_back(&put->answer);
  transfer::make_durable(store_, answers);
  for (const auto& put : puts) {
    if (std::holds_alternative<BulkRefused>(put->answer.reply)) continue;
    const Status noted = rights_.sent(put->from.owner, put->proven);
    if (!noted) put->answer.reply = transfer::refusal(noted.error());
  }
  loop_.post([this, puts = std::move(puts)] {
    for (const auto& put : puts) {
      release(put->from, put->bytes);
      (void)send_(put->from.peer, put->from.sequence, put->answer.reply);
    }
  });
}

void BlobService::handle(From from, GetBlobs request) {
  // Who has the first part of a blob may have the rest.
  if (request.has_other_sources && request.offset == 0 &&
      refusable_streams_ >= kMaxRefusableStreams) {
    (void)send_(
        from.peer, from.sequence,
        BulkRefused{"the launcher is already sending as much data as it can; try again", true});
    return;
  }
  if (!admit(from, 0)) return;
  auto stream = std::make_shared<Stream>();
  stream->is_refusable = request.has_other_sources;
  refusable_streams_ += stream->is_refusable ? 1 : 0;
  stream->from = std::move(from);
  stream->root = *request.root;
  stream->job = request.job;
  stream->unchecked = request.digests;
  stream->suspects = asked_again(stream->from, request);
  streams_.insert(stream);
  stream->reader = std::make_unique<transfer::BlobReader>(store_, std::move(request));
  read_next(std::move(stream));
}

void BlobService::finish(const std::shared_ptr<Stream>& stream) {
  if (streams_.erase(stream) == 0) return;
  refusable_streams_ -= stream->is_refusable ? 1 : 0;
  release(stream->from, 0);
}

bool BlobService::is_below(const Stream& stream) {
  const auto below = rights_.trees().find(stream.root);
  return below && std::all_of(stream.unchecked.begin(), stream.unchecked.end(),
                              [&](const Digest& one) { return (*below)->has(one); });
}

// Kept as hashes: if two are equal, a blob is checked once more.
std::vector<Digest> BlobService::asked_again(const From& from, const GetBlobs& request) {
  std::vector<Digest> again;
  if (asked_.size() >= kMaxAskedRemembered) asked_.clear();
  for (const Digest& digest : request.digests) {
    const std::string text = from.key.value + digest.hex() + std::to_string(request.offset);
    const auto [at, is_new] = asked_.try_emplace(std::hash<std::string>()(text), from.sequence);
    if (!is_new && std::exchange(at->second, from.sequence) != from.sequence)
      again.push_back(digest);
  }
  return again;
}

void BlobService::check_intact(const std::vector<Digest>& digests) {
  for (const Digest& digest : digests) {
    if (store_.size(digest).value_or(0) <= kMaxCheckedAtOnce)
      check_intact(digest);
    else
      checker_.run([this, digest] { check_intact(digest); });
  }
}

void BlobService::check_intact(const Digest& digest) {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard guard(intact_mutex_);
    const auto known = intact_.find(digest);
    if (known != intact_.end() && now - known->second < kIntactFor) return;
    if (intact_.size() >= kMaxIntactRemembered) intact_.clear();
  }
  const Status read = store_.stream(digest, [](std::string_view) { return Status(); });
  if (!read && read.error().code == ErrorCode::corrupt)
    spdlog::error("{}; whoever has its files must send them again", read.error().message);
  const std::lock_guard guard(intact_mutex_);
  if (read) intact_[digest] = now;
}

// One message is read ahead at a time; the next only when that one was sent.
void BlobService::read_next(std::shared_ptr<Stream> stream) {
  const bool needs_walk = !stream->suspects.empty() ||
                          (!stream->unchecked.empty() && !rights_.trees().known(stream->root));
  (needs_walk ? walker_ : worker_).run([this, stream = std::move(stream)] {
    std::optional<BulkMessage> message;
    if (!stream->is_over && !stream->unchecked.empty() && !is_below(*stream)) {
      stream->is_over = true;
      message = BulkRefused{kNotBelow};
    } else if (!stream->is_over) {
      check_intact(std::exchange(stream->suspects, {}));
      message = stream->reader->next();
    }
    stream->unchecked.clear();
    stream->next = message ? std::make_shared<const BulkMessage>(std::move(*message)) : nullptr;
    loop_.post([this, stream] { send_next(stream); });
  });
}

void BlobService::send_next(const std::shared_ptr<Stream>& stream) {
  if (stream->next == nullptr) return finish(stream);
  if (is_let_in_ && !is_let_in_(stream->from.key)) return finish(stream);
  if (stream->is_withdrawn && !stream->is_over) {  // told even if the queue is full just now
    stream->is_over = true;
    stream->next = std::make_shared<const BulkMessage>(BulkRefused{kWithdrawn});
  }
  switch (send_(stream->from.peer, stream->from.sequence, *stream->next)) {
    case Sent::yes: read_next(stream); break;
    case Sent::full: held_.push_back(stream); break;
    case Sent::gone: finish(stream); break;
  }
}

void BlobService::retry() {
  for (const auto& stream : std::exchange(held_, {})) send_next(stream);
}

void BlobService::look_again(const May& may) {
  for (const auto& stream : streams_)
    if (!stream->is_withdrawn) stream->is_withdrawn = !may(stream->from, stream->root, stream->job);
}

namespace {

Result<snapshot::Subtree> find_in(snapshot::BlobStore& store, const TreeQuestion& question) {
  const snapshot::DirectoryObjects objects = directory_objects(store);
  std::vector<snapshot::Beside> beside;
  TRY_ASSIGN(const Digest root, snapshot::merge_trees(question.trees, objects, beside));
  return snapshot::subtree(root, question.path, objects);
}

}  // namespace

void BlobService::check(BlobOwner owner, const Digest& root,
                        std::function<void(Result<bool>)> then) {
  walker_.run([this, owner = std::move(owner), root, then = std::move(then)] {
    store_.lease(root);
    auto owns = rights_.owns_tree(owner, root);
    loop_.post([then, owns = std::move(owns)] { then(owns); });
  });
}

void BlobService::find_tree(TreeQuestion question,
                            std::function<void(Result<snapshot::Subtree>)> then) {
  walker_.run([this, question = std::move(question), then = std::move(then)] {
    auto found = find_in(store_, question);
    if (found) store_.lease(found->root);
    loop_.post([then, found = std::move(found)] { then(found); });
  });
}

void BlobService::compare(std::vector<PartChange> changes,
                          std::function<void(std::vector<PartChange>)> then) {
  walker_.run([this, changes = std::move(changes), then = std::move(then)]() mutable {
    const auto read = directory_objects(store_).read;
    for (PartChange& change : changes) {
      if (!change.was && !change.is) continue;
      if (auto files = snapshot::tree_difference(change.was, change.is, read))
        change.files = *std::move(files);
    }
    loop_.post([then, changes = std::move(changes)] { then(changes); });
  });
}

void BlobService::merge(MergeOutputs question,
                        std::function<void(Result<std::vector<MergedOutput>>)> then) {
  walker_.run([this, question = std::move(question), then = std::move(then)] {
    auto merged = merge_outputs(store_, question);
    loop_.post([then, merged = std::move(merged)] { then(merged); });
  });
}

void BlobService::measure(const Digest& root, std::function<void(Result<Bytes>)> then) {
  worker_.run([this, root, then = std::move(then)] {
    auto size = snapshot::tree_size(store_, root);
    loop_.post([then, size = std::move(size)] { then(size); });
  });
}

}  // namespace lockstep::launcher
