#pragma once
// IPv4 sockets of the probe, which never block, and one epoll(7) descriptor for many of them. The
// runner's loop watches only this descriptor, so a probe of a thousand connections costs the loop
// no more than one of ten.

#include <netinet/in.h>
#include <sys/epoll.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "runner/fabric/probe/talk.h"

namespace lockstep::runner {

// The socket address of an IPv4 text; nullopt: the text is another address or a name. Nothing is
// resolved.
std::optional<sockaddr_in> ipv4(const std::string& address, std::uint16_t port);

// Listens on all addresses. `port` 0: one that the kernel chooses. `beside`: this runner has bound
// the port without listening (io::PortLease).
Result<io::Fd> listen_on(std::uint16_t port, bool beside);

std::uint16_t port_of_socket(int fd);            // 0: unknown
std::string address_of_socket(int fd);           // ours; "": it has none
io::Fd dial(const sockaddr_in& to, int* error);  // *error: 0, EINPROGRESS or what failed
void send_segments_at_once(int fd);              // TCP_NODELAY
// The number of bytes that a packet of this connection has beside its data: the heads of IPv4 and
// TCP.
int overhead_of(int fd);
std::string fresh_nonce();  // kTalkNonceBytes from the kernel

class SocketSet {
 public:
  // Called for each socket on which something happened; the events are epoll's.
  using Ready = std::function<void(std::uint64_t id, std::uint32_t events)>;
  SocketSet(io::EventLoop& loop, Ready ready);
  ~SocketSet();
  SocketSet(const SocketSet&) = delete;
  SocketSet& operator=(const SocketSet&) = delete;

  // Watches a descriptor. A second call for a descriptor replaces its events. A descriptor that is
  // closed needs no unwatch().
  void watch(int fd, std::uint64_t id, std::uint32_t events);

 private:
  void turn();

  io::EventLoop& loop_;
  Ready ready_;
  io::Fd epoll_;
};

}  // namespace lockstep::runner
