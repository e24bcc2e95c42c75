#include "launcher/gateway/http/server/server.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/match.h"
#include "common/io/net/tcp_listener.h"
#include "launcher/gateway/http/server/server_impl.h"

namespace lockstep::http {
namespace {

// At most so much of one connection or listener before the others have their turn.
constexpr int kAcceptsAtOnce = 64, kEventsAtOnce = 64, kRoundsAtOnce = 4;
constexpr Duration kListenAgain = milliseconds(100);  // after descriptors ran out

}  // namespace

Server::Server(io::EventLoop& loop, io::Clock& clock, Settings settings, Ports ports)
    : loop_(loop),
      clock_(clock),
      settings_(std::move(settings)),
      ports_(std::move(ports)),
      descriptors_(loop),
      admission_(settings_.connections, io::is_still_connected) {}

Server::~Server() {
  const auto peers = std::exchange(peers_, {});
  for (const auto& [number, peer] : peers) {
    peer->http.broken(clock_.now(), "the gateway ends");
    handle_events(peer);
    forget(peer);
  }
}

// ---- connections ------------------------------------------------------------------------------

Status Server::listen(io::Fd fd, bool is_tls) {
  CHECK(!is_tls || tls_, "TLS is served without a certificate");
  listeners_.push_back(std::make_unique<Listener>(Listener{std::move(fd), is_tls}));
  const Listener* listener = listeners_.back().get();
  return descriptors_.add(listener->fd.get(), {true, false},
                          [this, listener](io::DescriptorSet::Ready) { accept_from(*listener); });
}

void Server::accept_from(const Listener& listener) {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    auto stream = io::accept_stream(listener.fd.get());
    if (!stream) {
      if (stream.error().code == ErrorCode::resource_exhausted) pause_listening();
      return;
    }
    admit(std::move(stream->fd), stream->peer, listener.is_tls);
  }
}

void Server::admit(io::Fd fd, const io::Admission::Peer& from, bool is_tls) {
  if (from.address.empty()) {
    if (peers_.size() >= settings_.connections.all) return;
  } else {
    const auto verdict = admission_.arrived({fd.get(), from});
    for (const auto& other : verdict.shut) {
      const auto number = numbers_.find(other.fd);
      if (number == numbers_.end()) continue;
      const auto peer = peers_.at(number->second);
      peer->http.broken(clock_.now(), "the connection gave way to a new one");
      drive(peer);
    }
    if (!verdict.admitted) return;
  }
  const int number_of_fd = fd.get();
  const auto peer = std::make_shared<Peer>(++last_number_, std::move(fd), from,
                                           settings_.connection, clock_.now());
  if (is_tls) peer->tls = std::make_unique<TlsSession>(tls_);
  const auto added =
      descriptors_.add(number_of_fd, {true, false},
                       [this, weak = std::weak_ptr<Peer>(peer)](io::DescriptorSet::Ready ready) {
                         const auto held = weak.lock();
                         if (!held) return;
                         if (ready.read)
                           read_from(*held);
                         else if (ready.broken)
                           held->http.broken(clock_.now(), "the connection broke");
                         drive(held);
                       });
  if (!added) return;
  peers_[peer->number] = peer;
  numbers_[number_of_fd] = peer->number;
  settle(peer);
}

void Server::pause_listening() {
  for (const auto& listener : listeners_) descriptors_.change(listener->fd.get(), {});
  listening_again_ = clock_.now() + kListenAgain;
}

void Server::resume_listening() {
  for (const auto& listener : listeners_) descriptors_.change(listener->fd.get(), {true, false});
  listening_again_ = Instant::never();
}

// What the connection shows outside after something was done to it.
void Server::settle(const std::shared_ptr<Peer>& peer) {
  if (peer->is_forgotten) return;
  if (peer->http.is_over()) {
    handle_events(peer);
    return forget(peer);
  }
  descriptors_.change(peer->fd.get(), {peer->http.wants_input(), peer->has_output()});
  const Instant due = peer->http.deadline();
  if (due == peer->due) return;
  due_.erase({peer->due, peer->number});
  peer->due = due;
  if (due != Instant::never()) due_.insert({due, peer->number});
}

void Server::forget(const std::shared_ptr<Peer>& peer) {
  peer->is_forgotten = true;
  descriptors_.remove(peer->fd.get());
  due_.erase({peer->due, peer->number});
  numbers_.erase(peer->fd.get());
  peers_.erase(peer->number);
}

Instant Server::deadline() const {
  return due_.empty() ? listening_again_ : std::min(listening_again_, due_.begin()->first);
}

void Server::tick() {
  const Instant now = clock_.now();
  if (listening_again_ <= now) resume_listening();
  std::vector<std::uint64_t> numbers;
  for (const auto& [due, number] : due_) {
    if (due > now) break;
    numbers.push_back(number);
  }
  for (const std::uint64_t number : numbers) {
    const auto found = peers_.find(number);
    if (found == peers_.end()) continue;
    const auto peer = found->second;
    peer->http.expire(now);
    drive(peer);
  }
}

void Server::drain() {
  for (const auto& listener : listeners_) descriptors_.remove(listener->fd.get());
  listeners_.clear();
  listening_again_ = Instant::never();
  const auto peers = peers_;
  for (const auto& [number, peer] : peers) {
    peer->http.drain(clock_.now());
    drive(peer);
  }
}

// ---- requests ---------------------------------------------------------------------------------

void Server::wake(const std::shared_ptr<Peer>& peer) {
  if (peer->is_driven)
    peer->again = true;
  else
    wake_later(peer);
}

// Many answers of one turn of the loop cost one post.
void Server::wake_later(const std::shared_ptr<Peer>& peer) {
  if (peer->is_forgotten || std::exchange(peer->is_woken, true)) return;
  woken_.push_back(peer);
  if (woken_.size() > 1) return;
  loop_.post([this, alive = std::weak_ptr<const bool>(alive_)] {
    if (!alive.expired()) drive_woken();
  });
}

void Server::drive_woken() {
  for (const auto& peer : std::exchange(woken_, {})) {
    peer->is_woken = false;
    drive(peer);
  }
}

void Server::drive(const std::shared_ptr<Peer>& peer) {
  if (peer->is_forgotten) return;
  if (peer->is_driven) {
    peer->again = true;
    return;
  }
  peer->is_driven = true;
  peer->again = true;
  for (int round = 0; round < kRoundsAtOnce && peer->again; ++round) {
    peer->again = false;
    peer->http.source_is_ready(clock_.now());
    handle_events(peer);
    // What was written makes room, for a source or for the next request.
    if (write_to(*peer)) peer->again = true;
  }
  peer->is_driven = false;
  if (std::exchange(peer->again, false) && !peer->has_output()) wake_later(peer);
  settle(peer);
}

void Server::handle_events(const std::shared_ptr<Peer>& peer) {
  for (int i = 0; i < kEventsAtOnce; ++i) {
    const Instant now = clock_.now();
    auto event = peer->http.next_event(now);
    if (!event) return;
    // Held in what follows, because an answer forgets it.
    const std::shared_ptr<BodySink> sink = peer->sink;
    std::visit(Match{[&](RequestBegun& begun) { begin(peer, std::move(begun.request)); },
                     [&](BodyReceived& received) {
                       if (sink && !sink->take(std::move(received.bytes)))
                         peer->http.hold_body(now, true);
                     },
                     [&](BodyComplete&) {
                       peer->sink.reset();
                       if (sink) sink->complete();
                     },
                     [&](Answered& answered) {
                       AccessRecord how;
                       how.status = answered.status;
                       how.bytes_in = answered.bytes_in;
                       how.bytes_out = answered.bytes_out;
                       end(*peer, how);
                     },
                     [&](Dropped& dropped) {
                       AccessRecord how;
                       how.status = dropped.status;
                       how.dropped = std::move(dropped.why);
                       end(*peer, how);
                     }},
               *event);
  }
  peer->again = true;
}

void Server::begin(const std::shared_ptr<Peer>& peer, Request request) {
  Client client{peer->from.address, peer->tls != nullptr, peer->number, ++peer->requests};
  const auto exchange = std::make_shared<ServedExchange>(*this, peer, std::move(request),
                                                         std::move(client), clock_.now());
  peer->exchange = exchange;
  ports_.handle(exchange);
}

void Server::end(Peer& peer, const AccessRecord& how) {
  const Instant now = clock_.now();
  const auto exchange = std::exchange(peer.exchange, nullptr);
  peer.sink.reset();
  AccessRecord record;
  record.began = now;
  record.request = peer.requests + 1;
  if (exchange) record = exchange->record(now);
  record.address = peer.from.address;
  record.connection = peer.number;
  record.status = how.status;
  record.bytes_in = how.bytes_in;
  record.bytes_out = how.bytes_out;
  record.dropped = how.dropped;
  ports_.log(record);
  if (exchange) exchange->end();
}

}  // namespace lockstep::http
