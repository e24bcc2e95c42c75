#include "agent/daemon/links/bulk_link.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "common/io/net/reach.h"
#include "common/wire/messages/bulk.h"

namespace lockstep::agent {
namespace {

constexpr Duration kCloseAfter = seconds(60);
constexpr Duration kBulkAnswersWithin = seconds(6);
constexpr Duration kBulkLook = milliseconds(500);  // the loop blocks for this time
constexpr std::size_t kMaxAppendsRemembered = 4'096;
// How often our log says why logs of one attempt are refused.
constexpr Duration kSayRefusalAgainAfter = minutes(10), kSayOtherRefusalAfter = seconds(10);

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
  close_at_ = is_needed() ? Instant::never() : clock_.now() + kCloseAfter;
  if (!socket_) dial();
}

void BulkLink::hold(bool wanted) {
  const bool was_held = std::exchange(is_held_, wanted);
  if (wanted) return open();
  if (was_held && !is_needed()) close_at_ = clock_.now() + kCloseAfter;
}

void BulkLink::attach(const AttachFrame& frame) {
  if (const Status sent = send(frame); !sent)
    spdlog::debug("a frame of an attachment is dropped: {}", sent.error().message);
}

void BulkLink::dial_at(const std::string& endpoint) {
  if (endpoint == peer_.endpoint) return;
  peer_.endpoint = endpoint;
  if (!socket_) return;
  const Instant close_at = close_at_;
  close();
  dial();
  close_at_ = close_at;
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
      is_up_ = true;
      if (!trouble_.empty()) spdlog::info("connected to {}", peer_.endpoint);
      trouble_.clear();
      redial_at_ = Instant::never();
      shipper_.on_link_up();
      if (attach_.up) attach_.up();
      return;
    case io::ClientSocket::Link::down:
      is_up_ = false;
      shipper_.on_link_down();
      return;
    case io::ClientSocket::Link::refused:
      is_up_ = false;
      shipper_.on_link_down();
      redial_at_ = clock_.now() + kRedialRefusedAfter;
      spdlog::error("{} does not know the key of this node: logs wait; trying again in {}",
                    peer_.endpoint, format_duration(kRedialRefusedAfter));
      return;
  }
}

void BulkLink::close() {
  redial_at_ = Instant::never();
  is_up_ = false;
  alone_since_.reset();
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
  told_.erase(attempt);
  if (!is_needed()) close_at_ = clock_.now() + kCloseAfter;
}

Instant BulkLink::next_deadline() const {
  const Instant trouble_at =
      alone_since_ && trouble_.empty()
          ? *alone_since_ + std::max<Duration>(kBulkAnswersWithin, spread_ * 2)
          : Instant::never();
  const Instant close_at = trouble_.empty() ? close_at_ : Instant::never();
  return std::min({shipper_.next_deadline(), close_at, redial_at_, trouble_at});
}

// Looks for trouble of the bulk connection. A launcher that starts opens its control socket a
// moment before its bulk socket.
void BulkLink::look_for_trouble(Instant now, bool is_launcher_there) {
  if (!socket_ || is_up_ || !is_launcher_there) return alone_since_.reset();
  if (!alone_since_) alone_since_ = now;
  if (!trouble_.empty() ||
      now - *alone_since_ < std::max<Duration>(kBulkAnswersWithin, spread_ * 2))
    return;
  trouble_ = "it gets no connection to " + peer_.endpoint +
             ", from where files come and where logs go: " +
             io::why_not_connected(peer_.endpoint, kBulkLook);
  spdlog::error("{}; trying on", trouble_);
}

void BulkLink::tick(Instant now, bool is_launcher_there) {
  look_for_trouble(now, is_launcher_there);
  if (now >= close_at_ && trouble_.empty()) {
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
  if (const auto* append = std::get_if<LogAppend>(&message)) {
    appends_[envelope.sequence] = append->key;
    if (appends_.size() > kMaxAppendsRemembered) appends_.erase(appends_.begin());
  }
  envelope.body = std::move(message);
  return socket_->send(wire::encode(envelope));
}

// Handles a refusal. A launcher without disk space refuses each try with the same message.
void BulkLink::refused(std::uint64_t sequence, const BulkRefused& refusal) {
  AttemptId attempt;
  if (const auto append = appends_.extract(sequence); !append.empty()) {
    attempt = append.mapped().attempt;
    if (refusal.for_now) shipper_.on_refused(append.mapped(), clock_.now());
  }
  const auto [told, is_first] = told_.try_emplace(attempt);
  const Duration since = clock_.now() - told->second.at;
  const bool is_new = is_first || told->second.why != refusal.message;
  if (!is_first && since < (is_new ? kSayOtherRefusalAfter : kSayRefusalAgainAfter)) return;
  told->second = {refusal.message, clock_.now()};
  if (attempt.job.value.empty())
    spdlog::error("the launcher refused a bulk message: {}", refusal.message);
  else
    spdlog::warn("the launcher takes no logs of attempt {} for now: {}", to_string(attempt),
                 refusal.message);
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
    if (const auto* attach = std::get_if<AttachFrame>(&envelope->body))
      if (attach_.received) attach_.received(*attach);
    if (const auto* refusal = std::get_if<BulkRefused>(&envelope->body))
      refused(envelope->reply_to, *refusal);
  }
}

}  // namespace lockstep::agent
