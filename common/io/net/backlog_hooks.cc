// recv() and send() as libzmq calls them, as accept4() is in accept_hook.cc: this program's stand
// before the C library's and count the bytes of accepted connections. A connection of which too
// much waits unread is cut: it cannot be made to wait, since libzmq would ask again without end.
// Both run on libzmq's I/O thread. Alternatives: decision 030.

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

#include "common/io/net/backlog.h"

namespace lockstep::io {

// As the list of guarded ports: a C function has no object to find it in.
Backlog& process_backlog() {
  static Backlog* const backlog = new Backlog(Backlog::Limits{});  // libzmq's threads outlive main
  return *backlog;
}

}  // namespace lockstep::io

// Under names of their own: the C library's headers define inline forms of both.
extern "C" ssize_t lockstep_recv(int fd, void* data, size_t size, int flags) __asm__("recv");
extern "C" ssize_t lockstep_send(int fd, const void* data, size_t size, int flags) __asm__("send");

ssize_t lockstep_recv(int fd, void* data, size_t size, int flags) {
  lockstep::io::Backlog& backlog = lockstep::io::process_backlog();
  const ssize_t got = ::syscall(SYS_recvfrom, fd, data, size, flags, nullptr, nullptr);
  if (got > 0 && backlog.read(fd, got)) return got;
  const int error = got > 0 ? ECONNRESET : errno;
  const bool goes_on = got < 0 && (error == EAGAIN || error == EINTR);
  if (!goes_on) backlog.closed(fd);
  errno = error;
  return got > 0 ? -1 : got;
}

ssize_t lockstep_send(int fd, const void* data, size_t size, int flags) {
  const ssize_t sent = ::syscall(SYS_sendto, fd, data, size, flags, nullptr, 0);
  if (sent > 0) lockstep::io::process_backlog().wrote(fd, sent);
  return sent;
}
