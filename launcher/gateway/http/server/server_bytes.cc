// The bytes of Server's connections: from sockets to Connection and back, through TLS where it is
// on.

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "launcher/gateway/http/server/server_impl.h"

namespace lockstep::http {
namespace {

// At most so much of one connection before the others have their turn.
constexpr int kReadsAtOnce = 4, kWritesAtOnce = 8;
constexpr std::size_t kReadBytes = 16 << 10, kPlainAtOnce = 32 << 10;

}  // namespace

void Server::read_from(Peer& peer) {
  std::array<char, kReadBytes> buffer;
  for (int i = 0; i < kReadsAtOnce && peer.http.wants_input(); ++i) {
    const ssize_t got = ::recv(peer.fd.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      received(peer, {buffer.data(), static_cast<std::size_t>(got)});
      continue;
    }
    if (got == 0) return peer.http.input_ended(clock_.now());
    if (errno == EINTR) continue;
    if (errno != EAGAIN) peer.http.broken(clock_.now(), std::strerror(errno));
    return;
  }
}

void Server::received(Peer& peer, std::string_view bytes) {
  const Instant now = clock_.now();
  if (!peer.tls) return peer.http.received(now, bytes);
  std::string plain;
  const Status status = peer.tls->received(bytes, plain);
  peer.http.received(now, plain);
  if (!status) {
    std::size_t unused = 0;
    send_some(peer, peer.tls->output(), &unused);  // an alert, if there is room for it
    peer.http.broken(now, status.error().message);
  } else if (peer.tls->has_peer_closed()) {
    peer.http.input_ended(now);
  }
}

// Whether something was written.
bool Server::write_to(Peer& peer) {
  if (peer.http.is_over()) return false;
  const bool has_written = peer.tls ? write_encrypted(peer) : write_plain(peer);
  end_output(peer);
  return has_written;
}

bool Server::write_plain(Peer& peer) {
  bool has_written = false;
  for (int i = 0; i < kWritesAtOnce && !peer.http.output().empty(); ++i) {
    std::size_t sent = 0;
    if (!send_some(peer, peer.http.output(), &sent)) break;
    peer.http.wrote(clock_.now(), sent);
    has_written = true;
  }
  return has_written;
}

bool Server::write_encrypted(Peer& peer) {
  bool has_written = false;
  for (int i = 0; i < kWritesAtOnce; ++i) {
    if (peer.tls->output().empty()) {
      if (peer.encrypted > 0) {
        peer.http.wrote(clock_.now(), std::exchange(peer.encrypted, 0));
        has_written = true;
      }
      const std::string_view plain = peer.http.output().substr(0, kPlainAtOnce);
      if (plain.empty() || !peer.tls->is_established()) break;
      peer.encrypted = plain.size();
      if (const Status status = peer.tls->write(plain); !status) {
        peer.http.broken(clock_.now(), status.error().message);
        break;
      }
    }
    std::size_t sent = 0;
    if (!send_some(peer, peer.tls->output(), &sent)) break;
    peer.tls->wrote(sent);
  }
  return has_written;
}

// False: the socket has no room, or is broken.
bool Server::send_some(Peer& peer, std::string_view bytes, std::size_t* sent) {
  for (;;) {
    const ssize_t done = ::send(peer.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (done >= 0) {
      *sent = static_cast<std::size_t>(done);
      return true;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) peer.http.broken(clock_.now(), std::strerror(errno));
    return false;
  }
}

void Server::end_output(Peer& peer) {
  if (peer.has_ended_output || !peer.http.has_ended_output()) return;
  if (peer.tls) {
    if (!peer.tls->output().empty()) return;
    peer.tls->close();
    std::size_t sent = 0;
    if (send_some(peer, peer.tls->output(), &sent)) peer.tls->wrote(sent);
  }
  peer.has_ended_output = true;
  ::shutdown(peer.fd.get(), SHUT_WR);
}

}  // namespace lockstep::http
