#include "common/transfer/peer_server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "common/snapshot/content/reachable.h"
#include "common/transfer/blob_service.h"
#include "common/wire/messages/bulk.h"

namespace lockstep::transfer {
namespace {

constexpr const char* kZapDomain = "peer";
constexpr std::size_t kMaxAllowed = 100'000;  // the most allowed pairs of key and tree
constexpr std::size_t kMaxReachableBytes = 64u << 20;
constexpr std::size_t kMaxLooks = 1'000;
constexpr std::size_t kMaxOwed = 1'000;
constexpr std::size_t kBytesPerMessage = 256u << 10;  // eight streams take turns often
constexpr int kQueuedMessages = 4;  // the most messages that are queued for one asker
constexpr Duration kLookAgainAfter = seconds(5);
constexpr Duration kRefusalCounts = milliseconds(300);
constexpr Duration kFullQueueRetry = milliseconds(5);

Instant steady_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Instant{std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

}  // namespace

struct PeerServer::Impl {
  Impl(snapshot::BlobStore& blobs, const FetchProgress& fetches, PeerServerLimits most)
      : store(blobs), fetch_progress(fetches), limits(most), trees(blobs, kMaxReachableBytes) {}

  struct Stream {
    std::string asker;
    PublicKey key;
    Digest root;
    std::uint64_t sequence = 0;
    BlobReader reader;
    std::optional<BulkMessage> next;
    Instant moved;
  };

  // A short answer that did not fit into its asker's queue, behind the data for it.
  struct Owed {
    std::string asker;
    std::uint64_t sequence = 0;
    BulkMessage body;
    Instant since;
  };

  void run(std::string endpoint, io::KeyPair keys, std::promise<Status> bound);
  bool is_allowed(const PublicKey& key);  // whether the key is allowed for any tree
  bool is_allowed(const PublicKey& key, const Digest& root);
  void on_message(io::ServerSocket::Incoming incoming);
  void on_get(const io::ServerSocket::Incoming& from, std::uint64_t sequence, GetBlobs request);
  bool is_below(const Digest& root, const std::vector<Digest>& wanted);
  bool admit(const std::string& asker, Instant now);
  UnitsReply units(const Digest& root);
  Status reply(const std::string& asker, std::uint64_t sequence, BulkMessage body);
  void answer(const std::string& asker, std::uint64_t sequence, BulkMessage body);
  // Sends owed answers, and one message of each stream; true while some queue takes one.
  bool pump();
  // Sends more of a stream. False: the stream is finished.
  bool pump(Stream& stream, Instant now, bool* moved);

  snapshot::BlobStore& store;  // the store's walk remembers complete trees
  const FetchProgress& fetch_progress;
  const PeerServerLimits limits;
  std::string endpoint;
  std::mutex mutex;
  std::set<PublicKey> revoked;                              // guarded by the mutex
  std::map<std::pair<PublicKey, Digest>, Instant> allowed;  // each one's end; guarded by the mutex

  // The members below belong to the thread.
  snapshot::ReachableTrees trees;
  io::EventLoop loop;
  io::ServerSocket* socket = nullptr;
  std::list<Stream> streams;
  std::list<Owed> owed;
  std::map<std::string, std::uint64_t> served;  // bytes that each asker got in its turn
  Instant refused_at{-kRefusalCounts.count() - 1};
  struct Look {
    bool whole = false;
    Instant until;
  };
  std::map<Digest, Look> looks;
  std::uint64_t sequence = 0;
  std::atomic<bool> stopping{false};
  std::thread thread;
};

PeerServer::PeerServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<PeerServer>> PeerServer::start(const std::string& endpoint,
                                                      const io::KeyPair& keys,
                                                      snapshot::BlobStore& store,
                                                      const FetchProgress& fetch_progress,
                                                      PeerServerLimits limits) {
  auto impl = std::make_unique<Impl>(store, fetch_progress, limits);
  std::promise<Status> bound;
  auto is_bound = bound.get_future();
  impl->thread =
      std::thread([raw = impl.get(), endpoint, keys, bound = std::move(bound)]() mutable {
        raw->run(endpoint, keys, std::move(bound));
      });
  std::unique_ptr<PeerServer> server(new PeerServer(std::move(impl)));
  TRY(is_bound.get());
  return server;
}

PeerServer::~PeerServer() {
  impl_->stopping = true;
  impl_->loop.post([] {});
  impl_->thread.join();
}

std::string PeerServer::endpoint() const { return impl_->endpoint; }

std::uint16_t PeerServer::port() const {
  const std::string& text = impl_->endpoint;
  return static_cast<std::uint16_t>(std::stoul(text.substr(text.rfind(':') + 1)));
}

void PeerServer::allow(const std::vector<PublicKey>& keys, const Digest& root) {
  const Instant now = steady_now();
  std::lock_guard guard(impl_->mutex);
  auto& allowed = impl_->allowed;
  std::erase_if(allowed, [now](const auto& key) { return key.second <= now; });
  for (const PublicKey& key : keys) {
    if (allowed.size() >= kMaxAllowed && allowed.count({key, root}) == 0) return;
    allowed[{key, root}] = now + impl_->limits.allowed_for;
  }
}

void PeerServer::withdraw(const std::vector<PublicKey>& keys, const Digest& root) {
  {
    std::lock_guard guard(impl_->mutex);
    for (const PublicKey& key : keys) impl_->allowed.erase({key, root});
  }
  impl_->loop.post([] {});
}

void PeerServer::forbid(const std::vector<PublicKey>& keys) {
  if (keys.empty()) return;
  {
    std::lock_guard guard(impl_->mutex);
    // Revoked keys are not used again, and their transfers have long ended.
    if (impl_->revoked.size() + keys.size() > kMaxAllowed) impl_->revoked.clear();
    for (const PublicKey& key : keys) {
      impl_->revoked.insert(key);
      std::erase_if(impl_->allowed, [&](const auto& one) { return one.first.first == key; });
    }
  }
  impl_->loop.post([] {});
}

bool PeerServer::Impl::is_allowed(const PublicKey& key) {
  std::lock_guard guard(mutex);
  const Instant now = steady_now();
  for (auto it = allowed.lower_bound({key, Digest()}); it != allowed.end(); ++it) {
    if (it->first.first != key) return false;
    if (it->second > now) return true;
  }
  return false;
}

bool PeerServer::Impl::is_allowed(const PublicKey& key, const Digest& root) {
  std::lock_guard guard(mutex);
  const auto found = allowed.find({key, root});
  return found != allowed.end() && found->second > steady_now();
}

// Whether all blobs are parts of the tree, as far as this node has its directories.
bool PeerServer::Impl::is_below(const Digest& root, const std::vector<Digest>& wanted) {
  const auto below = trees.find(root);
  return below && std::all_of(wanted.begin(), wanted.end(),
                              [&](const Digest& one) { return (*below)->has(one); });
}

void PeerServer::Impl::run(std::string at, io::KeyPair keys, std::promise<Status> bound) {
  io::Transport transport(loop, [this](auto&, const PublicKey& key) { return is_allowed(key); });
  auto listening =
      io::ServerSocket::bind(transport, at, kZapDomain, keys,
                             {.max_message_bytes = 4u << 20, .high_water_mark = kQueuedMessages});
  if (!listening) return bound.set_value(listening.error());
  socket = &*listening;
  endpoint = socket->endpoint();
  loop.watch_socket(socket->handle(), [this] {
    for (int i = 0; i < 64; ++i) {
      auto incoming = socket->receive();
      if (!incoming) return;
      on_message(*std::move(incoming));
    }
  });
  bound.set_value({});
  while (!stopping) {
    const bool goes_on = pump();
    loop.turn(goes_on                           ? Duration{}
              : streams.empty() && owed.empty() ? Duration(seconds(10))
                                                : kFullQueueRetry);
  }
  loop.unwatch_socket(socket->handle());
}

Status PeerServer::Impl::reply(const std::string& asker, std::uint64_t to, BulkMessage body) {
  return socket->send(
      asker, wire::encode(BulkEnvelope{wire::kBulkVersion, ++sequence, to, std::move(body)}));
}

void PeerServer::Impl::answer(const std::string& asker, std::uint64_t to, BulkMessage body) {
  const Status sent = reply(asker, to, body);
  const bool is_full = !sent && sent.error().code == ErrorCode::resource_exhausted;
  if (is_full && owed.size() < kMaxOwed) owed.push_back({asker, to, std::move(body), steady_now()});
}

void PeerServer::Impl::on_message(io::ServerSocket::Incoming incoming) {
  auto envelope = wire::decode_bulk(incoming.bytes);
  if (!envelope) return;
  const std::string& asker = incoming.peer;
  const std::uint64_t to = envelope->sequence;
  const auto* ask = std::get_if<AskUnits>(&envelope->body);
  auto* get = std::get_if<GetBlobs>(&envelope->body);
  const std::optional<Digest> root = ask != nullptr ? ask->root : get ? get->root : std::nullopt;
  if (!is_allowed(incoming.key) || (root && !is_allowed(incoming.key, *root)))
    return answer(
        asker, to,
        BulkRefused{
            "the launcher has not recently allowed this key to fetch this tree from this node"});
  if (ask != nullptr) return answer(asker, to, units(ask->root));
  if (get != nullptr && root) return on_get(incoming, to, std::move(*get));
  if (get != nullptr)
    return answer(asker, to,
                  BulkRefused{"the request names no tree: the program that sent the request is "
                              "older than this node's"});
  answer(asker, to, BulkRefused{"a node does not accept this kind of message from another node"});
}

UnitsReply PeerServer::Impl::units(const Digest& root) {
  if (auto fetching = fetch_progress.find(root)) return *std::move(fetching);
  const Instant now = steady_now();
  if (looks.size() >= kMaxLooks) looks.clear();
  Look& look = looks[root];
  if (look.until <= now) {
    const auto missing = store.missing_blobs_from(root);
    look = {missing && missing->empty(), now + kLookAgainAfter};
  }
  UnitsReply reply;
  reply.whole = look.whole;
  return reply;
}

bool PeerServer::Impl::admit(const std::string& asker, Instant now) {
  std::size_t open = 0;
  for (const Stream& stream : streams) open += stream.asker == asker ? 1 : 0;
  if (open >= limits.requests) return false;
  std::map<std::string, std::size_t> at_work;
  for (const Stream& stream : streams) ++at_work[stream.asker];
  std::erase_if(
      served, [&](const auto& one) { return at_work.count(one.first) == 0 && one.first != asker; });
  if (at_work.count(asker) == 0 && at_work.size() >= limits.askers) return false;
  const bool others_wait = now - refused_at <= kRefusalCounts;
  const auto turn = served.find(asker);
  if (!others_wait || turn == served.end() || turn->second < limits.turn_bytes) return true;
  served.erase(turn);
  return false;
}

void PeerServer::Impl::on_get(const io::ServerSocket::Incoming& from, std::uint64_t to,
                              GetBlobs request) {
  const std::string& asker = from.peer;
  const Digest root = *request.root;
  const Instant now = steady_now();
  if (!admit(asker, now)) {
    refused_at = now;
    return answer(asker, to, BulkRefused{"this node already serves as many nodes as it may", true});
  }
  if (!is_below(root, request.digests))
    return answer(asker, to, BulkRefused{"some of the requested blobs are not a part of the tree"});
  served.try_emplace(asker);
  streams.push_back({asker, from.key, root, to,
                     BlobReader(store, std::move(request), kBytesPerMessage), std::nullopt, now});
}

bool PeerServer::Impl::pump(Stream& stream, Instant now, bool* moved) {
  if (!is_allowed(stream.key, stream.root)) {
    answer(stream.asker, stream.sequence,
           BulkRefused{"this node is no longer allowed to fetch this tree"});
    return false;
  }
  if (!stream.next) stream.next = stream.reader.next();
  if (!stream.next) return false;
  const Status sent = reply(stream.asker, stream.sequence, *stream.next);
  if (!sent && sent.error().code == ErrorCode::resource_exhausted)
    return now - stream.moved < limits.stuck_after;
  if (!sent) return false;  // the asker is gone
  if (const auto* data = std::get_if<BlobData>(&*stream.next))
    for (const BlobPiece& piece : data->pieces) served[stream.asker] += piece.data.size();
  stream.next.reset();
  stream.moved = now;
  *moved = true;
  return true;
}

bool PeerServer::Impl::pump() {
  bool moved = false;
  const Instant now = steady_now();
  std::erase_if(owed, [&](const Owed& one) {
    const Status sent = reply(one.asker, one.sequence, one.body);
    const bool is_full = !sent && sent.error().code == ErrorCode::resource_exhausted;
    return !is_full || now - one.since >= limits.stuck_after;
  });
  std::erase_if(streams, [&](Stream& stream) { return !pump(stream, now, &moved); });
  return moved;
}

}  // namespace lockstep::transfer
