#include "agent/daemon/bulk_link.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <variant>

#include "common/wire/bulk.h"

namespace lockstep::agent {
namespace {

constexpr Duration kCloseAfter = seconds(60);

}  // namespace

BulkLink::BulkLink(io::EventLoop& loop, io::Transport& transport, io::Clock& clock, Peer peer,
                   NodeId node, LogShipper::Taken taken)
    : loop_(loop),
      transport_(transport),
      clock_(clock),
      peer_(std::move(peer)),
      shipper_(
          loop, node, [this](BulkMessage message) { return send(std::move(message)); },
          std::move(taken)) {}

BulkLink::~BulkLink() { close(); }

void BulkLink::open() {
  close_at_ = shipper_.empty() ? clock_.now() + kCloseAfter : Instant::never();
  if (!socket_) dial();
}

void BulkLink::dial() {
  io::SocketLimits limits;
  limits.max_message_bytes = kMaxBulkMessageBytes;
  limits.redial_after = std::max(limits.redial_after, spread_);
  auto socket =
      io::ClientSocket::connect(transport_, peer_.endpoint, peer_.server_key, peer_.keys, limits);
  if (!socket) {
    redial_at_ = clock_.now() + kRedialRefusedAfter;
    return spdlog::error("logs cannot be sent: {}", socket.error().message);
  }
  socket_.emplace(*std::move(socket));
  loop_.watch_socket(socket_->handle(), [this] { receive(); });
  const Status watched =
      socket_->watch_link(loop_, [this](io::ClientSocket::Link link) { on_link(link); });
  if (!watched) spdlog::error("{}", watched.error().message);
}

void BulkLink::on_link(io::ClientSocket::Link link) {
  switch (link) {
    case io::ClientSocket::Link::up:
      redial_at_ = Instant::never();
      shipper_.on_link_up();
      return;
    case io::ClientSocket::Link::down: shipper_.on_link_down(); return;
    case io::ClientSocket::Link::refused:
      shipper_.on_link_down();
      redial_at_ = clock_.now() + kRedialRefusedAfter;
      spdlog::error("{} does not know the key of this node: logs wait; trying again in {}",
                    peer_.endpoint, format_duration(kRedialRefusedAfter));
      return;
  }
}

void BulkLink::close() {
  redial_at_ = Instant::never();
  if (!socket_) return;
  loop_.unwatch_socket(socket_->handle());
  socket_.reset();
  shipper_.on_link_down();
}

void BulkLink::ship(const AttemptId& attempt, const io::AttemptDir& directory, bool known) {
  shipper_.ship(attempt, directory, known);
  open();
}

void BulkLink::forget(const AttemptId& attempt) {
  shipper_.forget(attempt);
  if (shipper_.empty()) close_at_ = clock_.now() + kCloseAfter;
}

Instant BulkLink::next_deadline() const {
  return std::min({shipper_.next_deadline(), close_at_, redial_at_});
}

void BulkLink::tick(Instant now) {
  if (now >= close_at_) {
    close_at_ = Instant::never();
    close();
  }
  if (now >= redial_at_) {
    close();
    dial();
  }
  shipper_.tick(now);
}

Status BulkLink::send(BulkMessage message) {
  if (!socket_) return make_error(ErrorCode::unavailable, "the bulk socket is closed");
  BulkEnvelope envelope;
  envelope.sequence = ++sequence_;
  envelope.body = std::move(message);
  return socket_->send(wire::encode(envelope));
}

void BulkLink::receive() {
  while (socket_) {
    const auto bytes = socket_->receive();
    if (!bytes) return;
    const auto envelope = wire::decode_bulk(*bytes);
    if (!envelope) {
      spdlog::error("cannot read a bulk message from the launcher: {}", envelope.error().message);
      continue;
    }
    if (const auto* ack = std::get_if<LogAck>(&envelope->body)) shipper_.on_ack(*ack, clock_.now());
    if (const auto* refused = std::get_if<BulkRefused>(&envelope->body)) {
      spdlog::error("the launcher refused a bulk message: {}", refused->message);
    }
  }
}

}  // namespace lockstep::agent
