#include "agent/daemon/links/launcher_link.h"

#include <algorithm>
#include <utility>

#include "agent/daemon/links/bulk_link.h"
#include "common/domain/messages/envelope.h"
#include "common/io/process.h"

namespace lockstep::agent {

LauncherLink::LauncherLink(io::EventLoop& loop, io::Transport& transport, io::Clock& clock,
                           Peer peer, Events events)
    : loop_(loop),
      transport_(transport),
      clock_(clock),
      peer_(std::move(peer)),
      events_(std::move(events)) {}

LauncherLink::~LauncherLink() { close(); }

void LauncherLink::close() {
  is_up_ = false;
  if (!socket_) return;
  loop_.unwatch_socket(socket_->handle());
  socket_.reset();
}

// A random delay within the spread, a new one each time.
Duration LauncherLink::moment() const {
  if (spread_ <= Duration::zero()) return Duration::zero();
  return Duration(
      static_cast<std::int64_t>(io::random_u64() % static_cast<std::uint64_t>(spread_.count())));
}

Status LauncherLink::dial_at(const std::string& endpoint) {
  peer_.endpoint = endpoint;
  return dial();
}

void LauncherLink::give_up_after(Duration silence) {
  if (silence == silence_limit_) return;
  silence_limit_ = silence;
  if (!is_up_) wait_for_answer();
}

void LauncherLink::wait_for_answer() {
  give_up_at_ =
      silence_limit_ == Duration::max() ? Instant::never() : clock_.now() + silence_limit_;
}

Status LauncherLink::dial() {
  close();
  redial_at_ = Instant::never();
  wait_for_answer();
  io::SocketLimits limits;
  limits.max_message_bytes = static_cast<std::int64_t>(kMaxControlMessageBytes);
  limits.redial_after = std::max(limits.redial_after, spread_);
  TRY_ASSIGN(auto socket, io::ClientSocket::connect(transport_, peer_.endpoint, peer_.server_key,
                                                    peer_.keys, limits));
  socket_.emplace(std::move(socket));
  loop_.watch_socket(socket_->handle(), [this] { receive(); });
  return socket_->watch_link(loop_, [this](io::ClientSocket::Link link) { on_link(link); });
}

Status LauncherLink::redial() {
  if (!is_up_) return {};
  return dial();
}

void LauncherLink::on_link(io::ClientSocket::Link link) {
  is_up_ = link == io::ClientSocket::Link::up;
  switch (link) {
    case io::ClientSocket::Link::up: give_up_at_ = Instant::never(); break;
    case io::ClientSocket::Link::down:
      wait_for_answer();
      if (spread_ <= Duration::zero()) break;  // libzmq dials by itself
      close();
      redial_at_ = clock_.now() + moment();
      give_up_at_ = Instant::never();  // the time limit begins when libzmq dials
      break;
    case io::ClientSocket::Link::refused:  // libzmq does not dial again
      redial_at_ = clock_.now() + kRedialRefusedAfter + moment();
      wait_for_answer();
      break;
  }
  events_.changed(link);
}

void LauncherLink::receive() {
  while (socket_) {
    const auto bytes = socket_->receive();
    if (!bytes) return;
    events_.received(*bytes);
  }
}

Status LauncherLink::send(std::string_view bytes) {
  if (!socket_) return make_error(ErrorCode::unavailable, "not connected to " + peer_.endpoint);
  return socket_->send(bytes);
}

Status LauncherLink::tick(Instant now) {
  if (now >= redial_at_) return dial();
  if (now < give_up_at_) return {};
  wait_for_answer();
  if (events_.unanswered) events_.unanswered();
  return {};
}

}  // namespace lockstep::agent
