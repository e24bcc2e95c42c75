#pragma once
// A fake of a launcher's or a peer's bulk socket. It has only a blob store behind it, and its wire
// can lose, duplicate and change messages.

#include <atomic>
#include <cerrno>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>

#include "common/io/event_loop.h"
#include "common/io/net/transport.h"
#include "common/snapshot/content/blob_store.h"
#include "common/transfer/blob_service.h"
#include "common/wire/messages/bulk.h"

namespace lockstep::transfer {

class BlobServer {
 public:
  // What happens to message number n (requests and answers are counted together).
  enum class Fate { pass, lose, twice };
  using Wire = std::function<Fate(unsigned n)>;

  BlobServer(const std::string& endpoint, snapshot::BlobStore& store, Wire wire)
      : store_(store), wire_(std::move(wire)), thread_([this, endpoint] { run(endpoint); }) {
    ready_.wait(false);
  }
  ~BlobServer() { stop(); }
  void stop() {
    if (!thread_.joinable()) return;
    stop_ = true;
    loop_.post([] {});
    thread_.join();
  }

  // Serves again at the same endpoint, from the same store. Messages on their way are lost.
  void restart() {
    stop();
    outgoing_.clear();
    stop_ = ready_ = false;
    thread_ = std::thread([this, endpoint = endpoint_] { run(endpoint); });
    ready_.wait(false);
  }

  // Set these before the first message comes.
  std::function<FindPeersReply(const PublicKey& asker)> find_peers;
  std::function<void(BlobData&)> change;  // alters the data that it sends
  std::function<void(const FetchReport&)> on_report;
  // Of requests of users; nullopt: it is answered.
  std::function<std::optional<BulkRefused>(const BulkEnvelope&)> refusal;
  std::uint64_t sent_bytes() const { return sent_bytes_; }  // of pieces

  const io::KeyPair& keys() const { return keys_; }
  std::string endpoint() const { return endpoint_; }
  unsigned messages() const { return messages_; }
  void fill_disk(bool full) { full_ = full; }

 private:
  void run(const std::string& endpoint) {
    io::Transport transport(loop_, [](auto&, auto&) { return true; });
    auto socket = io::ServerSocket::bind(transport, endpoint, "bulk", keys_);
    if (socket) endpoint_ = socket->endpoint();
    ready_ = true;
    ready_.notify_all();
    if (!socket) return;
    loop_.watch_socket(socket->handle(), [&] {
      while (auto incoming = socket->receive()) {
        auto envelope = wire::decode_bulk(incoming->bytes);
        const Fate fate = wire_(messages_++);
        for (int i = fate == Fate::lose ? 0 : fate == Fate::twice ? 2 : 1; i > 0; --i) {
          if (envelope)
            answer_one(*socket, incoming->peer, incoming->key, *envelope);
          else
            refuse(incoming->peer, envelope.error());
        }
      }
    });
    while (!stop_) {
      flush(*socket);
      loop_.turn(outgoing_.empty() ? Duration(seconds(10)) : Duration(milliseconds(1)));
    }
    loop_.unwatch_socket(socket->handle());
  }

  void answer_one(io::ServerSocket& socket, const std::string& peer, const PublicKey& key,
                  const BulkEnvelope& request) {
    const auto refused = refusal ? refusal(request) : std::nullopt;
    if (refused) {
      reply(peer, request, *refused);
    } else if (const auto* missing = std::get_if<MissingBlobs>(&request.body)) {
      reply(peer, request, answer(store_, *missing));
    } else if (const auto* put = std::get_if<PutBlobs>(&request.body)) {
      reply(peer, request,
            full_ ? BulkRefused{errno_error(ENOSPC, "write").message, true, true}
                  : answer(store_, *put, peer));
    } else if (const auto* get = std::get_if<GetBlobs>(&request.body)) {
      BlobReader reader(store_, *get);
      while (auto data = reader.next()) {
        if (auto* pieces = std::get_if<BlobData>(&*data)) {
          if (change) change(*pieces);
          for (const auto& piece : pieces->pieces) sent_bytes_ += piece.data.size();
        }
        reply(peer, request, *std::move(data));
      }
    } else if (std::holds_alternative<FindPeers>(request.body)) {
      reply(peer, request, find_peers ? find_peers(key) : FindPeersReply{});
    } else if (const auto* report = std::get_if<FetchReport>(&request.body)) {
      if (on_report) on_report(*report);
      reply(peer, request, FindPeersReply{});
    } else if (std::holds_alternative<AskUnits>(request.body)) {
      reply(peer, request, UnitsReply{true, false, 0, ""});
    }
    flush(socket);
  }

  // As the launcher does: it does not know which request this was.
  void refuse(const std::string& peer, const Error& why) {
    outgoing_.emplace_back(
        peer, wire::encode(BulkEnvelope{wire::kBulkVersion, 0, 0, BulkRefused{why.message}}));
  }

  void reply(const std::string& peer, const BulkEnvelope& request, BulkMessage body) {
    const Fate fate = wire_(messages_++);
    const std::string bytes =
        wire::encode(BulkEnvelope{wire::kBulkVersion, 0, request.sequence, std::move(body)});
    for (int i = fate == Fate::lose ? 0 : fate == Fate::twice ? 2 : 1; i > 0; --i) {
      outgoing_.emplace_back(peer, bytes);
    }
  }

  void flush(io::ServerSocket& socket) {
    while (!outgoing_.empty()) {
      const Status sent = socket.send(outgoing_.front().first, outgoing_.front().second);
      if (!sent && sent.error().code == ErrorCode::resource_exhausted) return;
      outgoing_.pop_front();
    }
  }

  snapshot::BlobStore& store_;
  Wire wire_;
  const io::KeyPair keys_ = io::generate_key_pair();
  std::string endpoint_;
  io::EventLoop loop_;  // outlives its thread: stop() posts to it
  std::atomic<bool> ready_{false}, stop_{false}, full_{false};
  std::atomic<unsigned> messages_{0};
  std::atomic<std::uint64_t> sent_bytes_{0};
  std::deque<std::pair<std::string, std::string>> outgoing_;
  std::thread thread_;
};

}  // namespace lockstep::transfer
