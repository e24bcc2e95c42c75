#pragma once
// A fake launcher for one pipeline, over real sockets and on its own thread. It serves each step's
// log in small chunks from the offset that is asked for, and can break down in the middle and start
// again on the same ports without any memory of its clients.

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "common/domain/messages/bulk_protocol.h"
#include "common/domain/messages/client_protocol.h"
#include "common/io/event_loop.h"
#include "common/io/net/transport.h"
#include "common/wire/messages/bulk.h"
#include "common/wire/messages/control.h"
#include "launcher/cli/link/endpoint.h"

namespace lockstep::cli {

class FakePipeline {
 public:
  struct Script {
    JobView job;        // while steps run
    JobView final_job;  // once each log was sent
    std::map<JobId, std::string> logs;
    std::map<JobId, std::vector<LogTime>> times = {};  // of these
    std::map<JobId, JobView> steps = {};               // that are asked for by ShowJob
    std::size_t chunk_bytes = 7;
    int break_after_chunks = 0;  // once; 0 = never
    bool ends_by_itself = true;  // if false, it ends only by CancelJob
  };

  explicit FakePipeline(Script script) : script_(std::move(script)) {
    thread_ = std::thread([this] { serve(); });
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return endpoint_.has_value(); });
  }
  ~FakePipeline() {
    stop_ = true;
    thread_.join();
  }

  Endpoint endpoint() {
    const std::lock_guard lock(mutex_);
    return *endpoint_;
  }
  int lives() const { return lives_; }
  int cancels() const { return cancels_; }
  int most_resumed() const { return most_resumed_; }

 private:
  void serve() {
    std::string control = "tcp://127.0.0.1:*", bulk = control;
    while (!stop_) live_once(control, bulk);
  }

  void live_once(std::string& control_at, std::string& bulk_at) {
    io::EventLoop loop;
    io::Transport transport(loop, [](const std::string&, const PublicKey&) { return true; });
    auto control = io::ServerSocket::bind(transport, control_at, "users", keys_);
    auto bulk = io::ServerSocket::bind(transport, bulk_at, "users", keys_);
    if (!control || !bulk) return;  // the previous life's ports are not free yet
    control_at = control->endpoint();
    bulk_at = bulk->endpoint();
    started_ = Instant{1'000'000'000 + ++lives_};
    bool broken = false;
    loop.watch_socket(control->handle(), [&] {
      while (auto incoming = control->receive()) on_control(*control, *incoming);
    });
    loop.watch_socket(bulk->handle(), [&] {
      while (auto incoming = bulk->receive()) broken = broken || !on_bulk(*bulk, *incoming);
    });
    {
      const std::lock_guard lock(mutex_);
      endpoint_ = Endpoint{{1, 1}, control_at, bulk_at, "", keys_.public_key};
    }
    ready_.notify_all();
    while (!stop_ && !broken) loop.turn(milliseconds(2));
  }

  bool is_over() const {
    return canceled_ || (script_.ends_by_itself && sent_.size() == script_.logs.size());
  }

  void on_control(io::ServerSocket& socket, const io::ServerSocket::Incoming& incoming) {
    const auto envelope = wire::decode_envelope<ClientRequest>(incoming.bytes);
    if (!envelope) return;
    Envelope<ClientReply> reply;
    reply.sequence = ++sequence_;
    reply.reply_to = envelope->sequence;
    reply.body = Done{"canceled"};
    if (std::holds_alternative<WatchJob>(envelope->body)) {
      reply.body = JobReply{is_over() ? script_.final_job : script_.job};
    } else if (const auto* show = std::get_if<ShowJob>(&envelope->body)) {
      const auto step = script_.steps.find(show->job);
      if (step == script_.steps.end()) return;
      reply.body = JobReply{step->second};
    } else if (std::holds_alternative<GetStatus>(envelope->body)) {
      LauncherStatus status;
      status.started = started_;
      reply.body = StatusReply{status};
    } else {
      ++cancels_;
      canceled_ = true;
    }
    (void)socket.send(incoming.peer, wire::encode(reply));
  }

  // False: this life ends now.
  bool on_bulk(io::ServerSocket& socket, const io::ServerSocket::Incoming& incoming) {
    const auto envelope = wire::decode_bulk(incoming.bytes);
    const auto* follow = envelope ? std::get_if<LogFollow>(&envelope->body) : nullptr;
    if (follow == nullptr) return true;
    const LogKey key{{follow->job, 1}, 0, LogStream::out};
    const std::string& text = script_.logs.at(follow->job);
    std::size_t at = 0;
    for (const auto& position : follow->resume)
      if (position.key == key) at = position.offset;
    most_resumed_ = std::max(most_resumed_.load(), static_cast<int>(at));
    for (std::uint32_t credit = follow->credit; at < text.size() && credit > 0; --credit) {
      LogChunk chunk{key, 0, "n0", at, text.substr(at, script_.chunk_bytes), {}};
      if (const auto times = script_.times.find(follow->job); times != script_.times.end())
        chunk.times = times->second;
      at += chunk.data.size();
      reply(socket, incoming.peer, envelope->sequence, chunk);
      if (++chunks_ == script_.break_after_chunks) return false;
    }
    if (at < text.size()) return true;
    sent_.insert(follow->job);
    const auto status = is_over() ? JobStatus::completed : JobStatus::running;
    reply(socket, incoming.peer, envelope->sequence, LogEnd{std::string(to_string(status))});
    return true;
  }

  void reply(io::ServerSocket& socket, const std::string& peer, std::uint64_t to,
             BulkMessage body) {
    BulkEnvelope envelope;
    envelope.sequence = ++sequence_;
    envelope.reply_to = to;
    envelope.body = std::move(body);
    (void)socket.send(peer, wire::encode(envelope));
  }

  const Script script_;
  const io::KeyPair keys_ = io::generate_key_pair();
  std::mutex mutex_;
  std::condition_variable ready_;
  std::optional<Endpoint> endpoint_;  // guarded by mutex_
  std::atomic<bool> stop_{false};
  std::atomic<int> lives_{0}, cancels_{0}, most_resumed_{0};

  // Used by the serving thread only.
  std::uint64_t sequence_ = 0;
  Instant started_;
  int chunks_ = 0;  // in all lives
  bool canceled_ = false;
  std::set<JobId> sent_;
  std::thread thread_;
};

}  // namespace lockstep::cli
