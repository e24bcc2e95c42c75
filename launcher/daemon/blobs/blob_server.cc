#include "launcher/daemon/blobs/blob_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "common/snapshot/manifest.h"

namespace lockstep::launcher {

namespace {

// The answer does not reveal whether the blob exists.
constexpr const char* kNotBelow = "the requested blob is not part of the named tree";
constexpr std::size_t kMaxAskedRemembered = 1'000'000, kMaxIntactRemembered = 100'000;
constexpr std::uint64_t kMaxCheckedAtOnce = 64u << 20;
constexpr Duration kIntactFor = minutes(1);  // a blob is not verified again for this time
constexpr const char* kWithdrawn = "this key may not read this tree any more";

// The requested digests that the owner has to send, in the order of the request: those that are not
// stored, and those that are stored but not reachable from the owner's trees.
BulkMessage answer_missing(snapshot::BlobStore& store, BlobRights& rights, const BlobOwner& owner,
                           const MissingBlobs& request, snapshot::Lease lease,
                           snapshot::Asker asker, const FairWorkers::Pause& pause) {
  auto missing = store.missing(request.digests, lease, asker);
  if (!missing) return transfer::not_stored(missing.error());
  if (missing->size() == request.digests.size()) return MissingBlobsReply{*std::move(missing)};
  const std::unordered_set<Digest> not_here(missing->begin(), missing->end());
  std::vector<Digest> here;
  for (const Digest& digest : request.digests)
    if (not_here.count(digest) == 0) here.push_back(digest);
  auto foreign = rights.foreign(owner, here, pause);
  if (!foreign) return transfer::not_stored(foreign.error());
  if (foreign->empty()) return MissingBlobsReply{*std::move(missing)};
  const std::unordered_set<Digest> others(foreign->begin(), foreign->end());
  MissingBlobsReply reply;
  for (const Digest& digest : request.digests)
    if (not_here.count(digest) != 0 || others.count(digest) != 0) reply.missing.push_back(digest);
  return reply;
}

ShareBounds bounds_of_requests(std::uint64_t bytes_of_one) {
  constexpr std::uint64_t kMaxRequests = 100'000;
  return {"blob requests in flight", kMaxBlobRequestsOfOne, kMaxRequests, bytes_of_one,
          kMaxQueuedBytes};
}

// The limits of walks. A paused walk keeps its results in memory, so few are begun at a time.
FairWorkers::Limits limits_of_walkers() {
  FairWorkers::Limits limits;
  limits.begun = 8;
  limits.waiting = {"checks and merges of folders waiting", kMaxTreeWorksOfUser, kMaxTreeWorks};
  return limits;
}

FairWorkers::Limits limits_of_checkers() {
  FairWorkers::Limits limits;
  limits.begun = 4;
  limits.waiting = {"files to check", 100, 1'000};
  return limits;
}

// Limits the workers. The queue needs no limit: requests in flight are limited.
FairWorkers::Limits limits_of_workers() {
  FairWorkers::Limits limits;
  limits.begun = 4;
  return limits;
}

}  // namespace

BlobService::WorkerGroup::WorkerGroup(ShareBounds requests)
    : in_flight(std::move(requests)),
      walkers(limits_of_walkers()),
      checkers(limits_of_checkers()),
      workers(limits_of_workers()) {}

snapshot::Asker asker_of(const AttemptId& attempt) {
  const std::string text =
      fmt::format("{}/{}/{}", attempt.job.value, attempt.number, attempt.incarnation);
  return std::max<snapshot::Asker>(std::hash<std::string>()(text), 1);
}

BlobService::BlobService(io::EventLoop& loop, snapshot::BlobStore& store, BlobLedger& ledger,
                         Send send)
    : loop_(loop),
      store_(store),
      send_(std::move(send)),
      rights_(store, ledger),
      nodes_(bounds_of_requests(kMaxQueuedBytesOfNode)),
      users_(bounds_of_requests(kMaxQueuedBytesOfUser)) {}

Status BlobService::take_share(const From& from, std::size_t bytes) {
  const auto requests = in_flight_.find(from.peer);
  if (requests != in_flight_.end() && requests->second >= kMaxBlobRequestsPerConnection)
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("this connection already has {} blob requests in flight; send "
                                  "more when some of them are answered",
                                  requests->second));
  return group_of(from).in_flight.take(from.principal, bytes);
}

bool BlobService::admit(const From& from, std::size_t bytes) {
  if (const Status taken = take_share(from, bytes); !taken) {
    (void)send_(from.peer, from.sequence, BulkRefused{taken.error().message, true});
    return false;
  }
  ++in_flight_[from.peer];
  return true;
}

void BlobService::release(const From& from, std::size_t bytes) {
  group_of(from).in_flight.give_back(from.principal, bytes);
  if (--in_flight_[from.peer] == 0) in_flight_.erase(from.peer);
}

void BlobService::answer_later(From from, std::size_t bytes,
                               std::function<BulkMessage(const FairWorkers::Pause&)> work) {
  FairWorkers& workers = group_of(from).workers;
  const std::string principal = from.principal;
  workers.run_anyway(principal, [this, from = std::move(from), bytes,
                                 work = std::move(work)](const FairWorkers::Pause& pause) {
    auto reply = std::make_shared<BulkMessage>(work(pause));
    loop_.post([this, from, bytes, reply] {
      release(from, bytes);
      (void)send_(from.peer, from.sequence, *reply);
    });
  });
}

void BlobService::handle(From from, MissingBlobs request) {
  const std::size_t bytes = request.digests.size() * sizeof(Digest);
  if (!admit(from, bytes)) return;
  const snapshot::Lease lease = from.lease;
  const snapshot::Asker asker = from.attempt ? asker_of(*from.attempt) : 0;
  BlobOwner owner = from.owner;
  answer_later(std::move(from), bytes,
               [this, lease, asker, owner = std::move(owner),
                request = std::move(request)](const FairWorkers::Pause& pause) {
                 return answer_missing(store_, rights_, owner, request, lease, asker, pause);
               });
}

void BlobService::handle(From from, PutBlobs request) {
  std::size_t bytes = 0;
  for (const auto& piece : request.pieces) bytes += piece.data.size();
  if (!admit(from, bytes)) return;
  auto pieces = std::make_shared<const PutBlobs>(std::move(request));
  auto put = std::make_shared<Put>(Put{std::move(from), bytes, {}});
  group_of(put->from).workers.run_anyway(
      put->from.principal,
      [this, pieces = std::move(pieces), put](const FairWorkers::Pause&) { store(*pieces, put); });
}

void BlobService::give_up(const From& from, const PutBlobs& request) {
  std::set<Digest> blobs;
  for (const BlobPiece& piece : request.pieces) blobs.insert(piece.digest);
  group_of(from).workers.run_anyway(from.principal,
                                    [this, key = from.key.value, blobs](const FairWorkers::Pause&) {
                                      for (const Digest& blob : blobs) store_.abandon(key, blob);
                                    });
}

void BlobService::store(const PutBlobs& pieces, const std::shared_ptr<Put>& put) {
  put->answer = transfer::put(
      store_, pieces, put->from.key.value, put->from.lease,
      [&](const BlobPiece& piece, bool was_here, bool is_here) {
        return take(*put, piece, was_here, is_here);
      },
      put->from.attempt ? asker_of(*put->from.attempt) : 0);
  {
    const std::lock_guard guard(puts_mutex_);
    puts_.push_back(put);
  }
  syncer_.run([this] { sync_puts(); });
}

// Takes a piece. A blob that arrived whole was verified. For one that was here before, the sent
// bytes are compared.
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
  if (puts.empty()) return;  // an earlier turn has handled them
  std::vector<transfer::PutAnswer*> answers;
  for (const auto& put : puts) answers.push_back(&put->answer);
  transfer::make_durable(store_, answers);
  for (const auto& put : puts) {
    if (std::holds_alternative<BulkRefused>(put->answer.reply)) continue;
    const Status noted = rights_.sent(put->from.owner, put->proven);
    if (!noted) put->answer.reply = transfer::not_stored(noted.error());
  }
  loop_.post([this, puts = std::move(puts)] {
    for (const auto& put : puts) {
      release(put->from, put->bytes);
      (void)send_(put->from.peer, put->from.sequence, put->answer.reply);
    }
  });
}

void BlobService::handle(From from, GetBlobs request) {
  // A client that has the first part of a blob may have the rest.
  if (request.has_other_sources && request.offset == 0 &&
      refusable_streams_ >= kMaxRefusableStreams) {
    (void)send_(
        from.peer, from.sequence,
        BulkRefused{"the launcher is already sending as much data as it can; try again", true});
    return;
  }
  const std::size_t bytes = request.digests.size() * sizeof(Digest);
  if (!admit(from, bytes)) return;
  auto stream = std::make_shared<Stream>();
  stream->bytes = bytes;
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
  release(stream->from, stream->bytes);
}

bool BlobService::is_below(const Stream& stream, const FairWorkers::Pause& pause) {
  const auto below = rights_.trees().find(stream.root, snapshot::bounded_walk(pause));
  return below && std::all_of(stream.unchecked.begin(), stream.unchecked.end(),
                              [&](const Digest& one) { return (*below)->has(one); });
}

// The blobs that are asked for again, kept as hashes: if two are equal, only one blob more is
// verified.
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

void BlobService::check_intact(const From& from, const std::vector<Digest>& digests,
                               const FairWorkers::Pause& pause) {
  for (const Digest& digest : digests) {
    if (store_.size(digest).value_or(0) <= kMaxCheckedAtOnce)
      check_intact(digest, pause);
    else  // clients with too many waiting requests ask again
      (void)group_of(from).checkers.run(
          from.principal,
          [this, digest](const FairWorkers::Pause& later) { check_intact(digest, later); });
  }
}

void BlobService::check_intact(const Digest& digest, const FairWorkers::Pause& pause) {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard guard(intact_mutex_);
    const auto known = intact_.find(digest);
    if (known != intact_.end() && now - known->second < kIntactFor) return;
    if (intact_.size() >= kMaxIntactRemembered) intact_.clear();
  }
  const Status read = store_.stream(digest, [&](std::string_view) { return pause(); });
  if (!read && read.error().code == ErrorCode::corrupt)
    spdlog::error("{}; whoever has its files must send them again", read.error().message);
  const std::lock_guard guard(intact_mutex_);
  if (read) intact_[digest] = now;
}

// Reads one message ahead; the next one only when that is sent.
void BlobService::read_next(std::shared_ptr<Stream> stream) {
  const bool needs_walk = !stream->suspects.empty() ||
                          (!stream->unchecked.empty() && !rights_.trees().known(stream->root));
  WorkerGroup& group = group_of(stream->from);
  const std::string principal = stream->from.principal;
  (needs_walk ? group.walkers : group.workers)
      .run_anyway(principal, [this, stream = std::move(stream)](const FairWorkers::Pause& pause) {
        prepare_next(*stream, pause);
        loop_.post([this, stream] { send_next(stream); });
      });
}

void BlobService::prepare_next(Stream& stream, const FairWorkers::Pause& pause) {
  std::optional<BulkMessage> message;
  if (!stream.is_over && !stream.unchecked.empty() && !is_below(stream, pause)) {
    stream.is_over = true;
    message = BulkRefused{kNotBelow};
  } else if (!stream.is_over) {
    check_intact(stream.from, std::exchange(stream.suspects, {}), pause);
    message = stream.reader->next();
  }
  stream.unchecked.clear();
  stream.next = message ? std::make_shared<const BulkMessage>(std::move(*message)) : nullptr;
}

void BlobService::send_next(const std::shared_ptr<Stream>& stream) {
  if (stream->next == nullptr) return finish(stream);
  if (is_let_in_ && !is_let_in_(stream->from.key)) return finish(stream);
  if (stream->is_withdrawn && !stream->is_over) {  // sent even if the queue is full now
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

// ---- trees --------------------------------------------------------------------------------------

}  // namespace lockstep::launcher
