#include "launcher/daemon/blob_service.h"

#include <fmt/format.h>

#include <utility>

#include "common/snapshot/tree_size.h"

namespace lockstep::launcher {

BlobService::BlobService(io::EventLoop& loop, snapshot::BlobStore& store, Send send)
    : loop_(loop), store_(store), send_(std::move(send)) {}

std::string BlobService::limit_reached(const From& from, std::size_t bytes) const {
  const auto requests = in_flight_.find(from.peer);
  const bool is_busy = requests != in_flight_.end() && requests->second >= kMaxBlobRequestsPerPeer;
  if (is_busy || queued_bytes_ + bytes > kMaxQueuedUploadBytes)
    return "the launcher has too many blob requests in flight";
  const auto mine = of_user_.find(from.user);
  const std::size_t queued = mine == of_user_.end() ? 0 : mine->second;
  if (from.user.empty() || queued + bytes <= kMaxQueuedUploadBytesPerUser) return "";
  return fmt::format(
      "user '{}' has {} bytes of uploads in flight, and {} are possible; what is "
      "refused is sent again when some of it is stored",
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
  answer_later(std::move(from), 0, [this, lease, request = std::move(request)] {
    return transfer::answer(store_, request, lease);
  });
}

void BlobService::handle(From from, PutBlobs request) {
  std::size_t bytes = 0;
  for (const auto& piece : request.pieces) bytes += piece.data.size();
  if (!admit(from, bytes)) return;
  auto pieces = std::make_shared<const PutBlobs>(std::move(request));
  auto put = std::make_shared<Put>(Put{std::move(from), bytes, {}});
  worker_.run([this, pieces = std::move(pieces), put = std::move(put)] {
    put->answer = transfer::put(store_, *pieces, put->from.key.value, put->from.lease);
    {
      const std::lock_guard guard(puts_mutex_);
      puts_.push_back(put);
    }
    syncer_.run([this] { sync_puts(); });
  });
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
  loop_.post([this, puts = std::move(puts)] {
    for (const auto& put : puts) {
      release(put->from, put->bytes);
      (void)send_(put->from.peer, put->from.sequence, put->answer.reply);
    }
  });
}

void BlobService::handle(From from, GetBlobs request) {
  // Who has the first part of a blob may have the rest.
  if (request.patient && request.offset == 0 && patient_ >= kMaxPatientStreams) {
    (void)send_(from.peer, from.sequence,
                BulkRefused{"the launcher sends as many blobs as it may", true});
    return;
  }
  if (!admit(from, 0)) return;
  auto stream = std::make_shared<Stream>();
  stream->patient = request.patient;
  patient_ += stream->patient ? 1 : 0;
  stream->from = std::move(from);
  stream->reader = std::make_unique<transfer::BlobReader>(store_, std::move(request));
  read_next(std::move(stream));
}

void BlobService::finish(const Stream& stream) {
  patient_ -= stream.patient ? 1 : 0;
  release(stream.from, 0);
}

// One message is read ahead at a time; the next only when that one was sent.
void BlobService::read_next(std::shared_ptr<Stream> stream) {
  worker_.run([this, stream = std::move(stream)] {
    auto message = stream->reader->next();
    stream->next = message ? std::make_shared<const BulkMessage>(std::move(*message)) : nullptr;
    loop_.post([this, stream] { send_next(stream); });
  });
}

void BlobService::send_next(const std::shared_ptr<Stream>& stream) {
  if (stream->next == nullptr) return finish(*stream);
  switch (send_(stream->from.peer, stream->from.sequence, *stream->next)) {
    case Sent::yes: read_next(stream); break;
    case Sent::full: held_.push_back(stream); break;
    case Sent::gone: finish(*stream); break;
  }
}

void BlobService::retry() {
  for (const auto& stream : std::exchange(held_, {})) send_next(stream);
}

void BlobService::check(const Digest& root, std::function<void(Result<bool>)> then) {
  worker_.run([this, root, then = std::move(then)] {
    store_.lease(root);
    auto missing = store_.missing_from(root);
    Result<bool> whole = missing ? Result<bool>(missing->empty()) : Result<bool>(missing.error());
    loop_.post([then, whole = std::move(whole)] { then(whole); });
  });
}

void BlobService::measure(const Digest& root, std::function<void(Result<Bytes>)> then) {
  worker_.run([this, root, then = std::move(then)] {
    auto size = snapshot::tree_size(store_, root);
    loop_.post([then, size = std::move(size)] { then(size); });
  });
}

}  // namespace lockstep::launcher
