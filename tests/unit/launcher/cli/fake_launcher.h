#pragma once
// A fake launcher for one job, over real sockets and on its own thread. It accepts the submission,
// reports the job's state, and serves its logs in small chunks, within the follower's credit and
// from its offsets. It can break down in the middle and start again on the same ports, without any
// memory of its clients, as a restarted process would.

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/domain/messages/bulk_protocol.h"
#include "common/domain/messages/client_protocol.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/net/transport.h"
#include "common/wire/messages/bulk.h"
#include "common/wire/messages/control.h"
#include "launcher/cli/link/endpoint.h"

namespace lockstep::cli {

class FakeLauncher {
 public:
  struct Log {
    LogKey key;
    std::string text;
  };
  struct Script {
    JobView job;  // the job's first state
    std::vector<Log> logs;
    std::size_t chunk_bytes = 7;
    int break_after_chunks = 0;  // 0 = never; each break is followed by a restart
    int breaks = 1;
    bool ends_by_itself = true;  // if false, the job ends only by CancelJob
    Duration confirm_every{};    // StillWatching; 0: an older launcher, which has no such message
    bool loses_updates = false;  // loses each JobUpdate, and the watch with it
    int drop_follow_after_chunks = 0;  // drops the follow once, silently; 0 = never
    int refuses_follows = 0;           // for now, so many at first
    JobView final_job;
    JobView canceled_job;
  };

  explicit FakeLauncher(Script script) : script_(std::move(script)) {
    thread_ = std::thread([this] { serve(); });
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return endpoint_.has_value(); });
  }
  ~FakeLauncher() {
    stop_ = true;
    thread_.join();
  }

  Endpoint endpoint() {
    const std::lock_guard lock(mutex_);
    return *endpoint_;
  }
  io::KeyPair client_keys() const { return client_; }
  int lives() const { return lives_; }
  int cancels() const { return cancels_; }
  int requests() const { return requests_; }  // over the control socket
  int follows() const { return follows_; }
  int confirmed() const { return confirmed_; }
  void freeze(bool frozen) { frozen_ = frozen; }  // receives and sends nothing, as after SIGSTOP

 private:
  struct Follow {
    std::string peer;
    LogFollow request;
    std::uint32_t credit = 0;
  };

  void serve() {
    std::string control = "tcp://127.0.0.1:*", bulk = control;
    while (!stop_) live_once(control, bulk);
  }

  // One life of the process: sockets, then turns of the loop until the break.
  void live_once(std::string& control_at, std::string& bulk_at) {
    io::EventLoop loop;
    io::Transport transport(loop, [](const std::string&, const PublicKey&) { return true; });
    auto control = io::ServerSocket::bind(transport, control_at, "users", server_);
    auto bulk = io::ServerSocket::bind(transport, bulk_at, "users", server_);
    if (!control || !bulk) return;  // the previous life's ports are not free yet
    control_at = control->endpoint();
    bulk_at = bulk->endpoint();
    follow_.reset();
    watcher_.clear();
    chunks_ = 0;
    started_ = Instant{1'000'000'000 + ++lives_};
    loop.watch_socket(control->handle(), [&] {
      while (auto incoming = control->receive()) on_control(*control, *incoming);
    });
    loop.watch_socket(bulk->handle(), [&] {
      while (auto incoming = bulk->receive()) on_bulk(*bulk, *incoming);
    });
    {
      const std::lock_guard lock(mutex_);
      endpoint_ = Endpoint{{1, 1}, control_at, bulk_at, "", server_.public_key};
    }
    ready_.notify_all();
    bool broken = false;
    while (!stop_ && !broken) {
      if (frozen_) {
        ::usleep(2000);
        continue;
      }
      loop.turn(milliseconds(2));
      confirm(*control);
      broken = pump(*bulk);
      if (!broken && is_final(view().status) && last_told_ != view().status) tell(*control);
    }
  }

  const JobView& view() const {
    if (canceled_) return script_.canceled_job;
    // An update can be lost only after a client was told that the job runs.
    const bool may_end = was_watched_ || !script_.loses_updates;
    return all_sent_ && may_end && script_.ends_by_itself ? script_.final_job : script_.job;
  }

  void send(io::ServerSocket& socket, const std::string& peer, std::uint64_t reply_to,
            ClientReply body) {
    Envelope<ClientReply> envelope;
    envelope.sequence = ++sequence_;
    envelope.reply_to = reply_to;
    envelope.body = std::move(body);
    (void)socket.send(peer, wire::encode(envelope));
  }

  void tell(io::ServerSocket& socket) {
    if (watcher_.empty()) return;
    last_told_ = view().status;
    if (script_.loses_updates) return watcher_.clear();
    send(socket, watcher_, 0, JobUpdate{view()});
  }

  void confirm(io::ServerSocket& socket) {
    const Instant now = clock_.now();
    if (script_.confirm_every == Duration{} || watcher_.empty() || now < confirm_at_) return;
    confirm_at_ = now + script_.confirm_every;
    send(socket, watcher_, 0, StillWatching{JobId(script_.job.spec.name), started_});
    ++confirmed_;
  }

  void on_control(io::ServerSocket& socket, const io::ServerSocket::Incoming& incoming) {
    const auto envelope = wire::decode_envelope<ClientRequest>(incoming.bytes);
    if (!envelope) return;
    const auto reply = [&](ClientReply body) {
      send(socket, incoming.peer, envelope->sequence, std::move(body));
    };
    const ClientRequest& body = envelope->body;
    ++requests_;
    if (std::holds_alternative<WatchJob>(body)) {
      watcher_ = incoming.peer;
      reply(JobReply{view()});
      was_watched_ = true;
    } else if (std::holds_alternative<ShowJob>(body)) {
      reply(JobReply{view()});
    } else if (std::holds_alternative<GetStatus>(body)) {
      LauncherStatus status;
      status.started = started_;
      reply(StatusReply{status});
    } else if (std::holds_alternative<CancelJob>(body)) {
      ++cancels_;
      canceled_ = true;
      reply(Done{"canceled"});
    } else {
      reply(Refused{ErrorCode::not_found, "the fake knows no such request"});
    }
  }

  void on_bulk(io::ServerSocket& socket, const io::ServerSocket::Incoming& incoming) {
    const auto envelope = wire::decode_bulk(incoming.bytes);
    if (!envelope) return;
    if (const auto* request = std::get_if<LogFollow>(&envelope->body)) {
      ++follows_;
      follow_ = Follow{incoming.peer, *request, request->credit};
      if (follows_ <= script_.refuses_follows) {
        send_bulk(socket, BulkRefused{"too much at once", true});
        return follow_.reset();
      }
      for (const auto& log : script_.logs) {
        auto& at = positions_[log.key];
        at = 0;
        for (const auto& position : request->resume)
          if (position.key == log.key) at = position.offset;
      }
    } else if (const auto* credit = std::get_if<LogCredit>(&envelope->body)) {
      if (follow_) follow_->credit += credit->chunks;
    }
  }

  bool send_bulk(io::ServerSocket& socket, BulkMessage body) {
    BulkEnvelope envelope;
    envelope.sequence = ++sequence_;
    envelope.body = std::move(body);
    return socket.send(follow_->peer, wire::encode(envelope)).has_value();
  }

  // True if this life ends now.
  bool pump(io::ServerSocket& socket) {
    if (!follow_) return false;
    bool more = true;
    while (more && follow_->credit > 0) {
      more = false;
      for (const auto& log : script_.logs) {
        auto& at = positions_[log.key];
        if (at >= log.text.size() || follow_->credit == 0) continue;
        const LogChunk chunk{log.key, 0, "n0", at, log.text.substr(at, script_.chunk_bytes)};
        at += chunk.data.size();
        --follow_->credit;
        more = true;
        if (!send_bulk(socket, chunk)) return false;
        if (++sent_ == script_.drop_follow_after_chunks) {
          follow_.reset();
          return false;
        }
        if (script_.break_after_chunks > 0 && lives_ <= script_.breaks &&
            ++chunks_ >= script_.break_after_chunks)
          return true;
      }
    }
    bool sent = true;
    for (const auto& log : script_.logs) sent = sent && positions_[log.key] >= log.text.size();
    all_sent_ = all_sent_ || sent;
    const bool over = sent && (is_final(view().status) || !follow_->request.follow);
    if (over) {
      send_bulk(socket, LogEnd{std::string(to_string(view().status))});
      follow_.reset();
    }
    return false;
  }

  const Script script_;
  const io::KeyPair server_ = io::generate_key_pair();
  const io::KeyPair client_ = io::generate_key_pair();
  std::mutex mutex_;
  std::condition_variable ready_;
  std::optional<Endpoint> endpoint_;  // guarded by mutex_
  std::atomic<bool> stop_{false};
  std::atomic<bool> frozen_{false};
  std::atomic<int> lives_{0}, cancels_{0}, requests_{0}, follows_{0}, confirmed_{0};

  // Used by the serving thread only.
  std::optional<Follow> follow_;
  std::map<LogKey, std::uint64_t> positions_;
  std::string watcher_;
  std::uint64_t sequence_ = 0;
  io::SystemClock clock_;
  Instant started_, confirm_at_;
  int chunks_ = 0;  // in this life
  int sent_ = 0;
  bool all_sent_ = false, was_watched_ = false, canceled_ = false;
  std::optional<JobStatus> last_told_;
  std::thread thread_;
};

}  // namespace lockstep::cli
