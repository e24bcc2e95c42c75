#pragma once
// What the files of Server share: one connection with its socket, and the exchange that its handler
// has.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launcher/gateway/http/server/server.h"

namespace lockstep::http {

struct Server::Peer {
  Peer(std::uint64_t number_of, io::Fd socket, io::Admission::Peer other_end,
       const Connection::Settings& settings, Instant now)
      : number(number_of), fd(std::move(socket)), from(std::move(other_end)), http(settings, now) {}

  bool has_output() const {
    if (!tls) return !http.output().empty();
    return !tls->output().empty() || (tls->is_established() && !http.output().empty());
  }

  const std::uint64_t number;
  const io::Fd fd;
  const io::Admission::Peer from;
  Connection http;
  std::unique_ptr<TlsSession> tls;  // null: plain
  std::size_t encrypted = 0;        // of http.output(): encrypted, and not written as a whole yet
  std::shared_ptr<ServedExchange> exchange;
  std::shared_ptr<BodySink> sink;
  std::uint64_t requests = 0;
  Instant due = Instant::never();
  bool is_driven = false, again = false;  // drive() runs; and must look again
  bool is_woken = false;                  // it is in woken_
  bool has_ended_output = false;
  bool is_forgotten = false;
};

class Server::ServedExchange final : public Exchange {
 public:
  ServedExchange(Server& server, const std::shared_ptr<Peer>& peer, Request request, Client client,
                 Instant began)
      : server_(server),
        peer_(peer),
        request_(std::move(request)),
        client_(std::move(client)),
        began_(began) {}

  const Request& request() const override { return request_; }
  const Client& client() const override { return client_; }
  bool is_over() const override { return is_over_; }

  void take_body(std::uint64_t at_most, std::shared_ptr<BodySink> sink) override {
    const auto peer = open_peer();
    if (!peer || is_answered_) return;
    if (!request_.has_body()) return sink->complete();
    peer->sink = std::move(sink);
    peer->http.take_body(server_.clock_.now(), at_most);
    server_.wake(peer);
  }

  void resume_body() override {
    const auto peer = open_peer();
    if (!peer) return;
    peer->http.hold_body(server_.clock_.now(), false);
    server_.wake(peer);
  }

  void answer(Response response) override {
    const auto peer = open_peer();
    if (!peer || std::exchange(is_answered_, true)) return;
    if (response.source) {
      const std::weak_ptr<Peer> weak = peer;
      response.source->on_ready([&server = server_, weak] {
        if (const auto awake = weak.lock()) server.wake(awake);
      });
    }
    peer->http.answer(server_.clock_.now(), std::move(response));
    server_.wake(peer);
  }

  void identified_as(const std::string& user) override {
    user_ = user;
    if (const auto peer = open_peer())
      server_.admission_.proven(peer->fd.get(), peer->from.address);
  }

  void on_over(std::function<void()> handler) override {
    if (is_over_) return handler();
    handlers_.push_back(std::move(handler));
  }

  void end() {
    is_over_ = true;
    for (const auto& handler : std::exchange(handlers_, {})) handler();
  }

  AccessRecord record(Instant now) const {
    AccessRecord record;
    record.began = began_;
    record.took = now - began_;
    record.user = user_;
    record.request = client_.request;
    record.method = std::string(to_string(request_.method));
    record.path = request_.target.substr(0, request_.target.find('?'));
    return record;
  }

 private:
  // Null: the exchange is over, and the server may be gone.
  std::shared_ptr<Peer> open_peer() const { return is_over_ ? nullptr : peer_.lock(); }

  Server& server_;
  const std::weak_ptr<Peer> peer_;
  const Request request_;
  const Client client_;
  const Instant began_;
  std::string user_;
  bool is_answered_ = false;
  bool is_over_ = false;
  std::vector<std::function<void()>> handlers_;
};

}  // namespace lockstep::http
