// recv() and send() as libzmq calls them, like accept4() in accept_hook.cc: this program defines
// them itself, and counts the bytes of accepted connections. A connection with too many unread
// bytes is cut. It cannot be paused, because libzmq would call again without end. Both run on
// libzmq's I/O thread. Alternatives: decision 030.

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

#include "common/io/net/backlog.h"

namespace lockstep::io {

// The backlog of this process, static like the list of guarded ports: a C function has no object to
// find it in.
Backlog& process_backlog() {
  // Never freed: libzmq's threads may outlive main.
  static Backlog* const backlog = new Backlog(Backlog::Limits{});
  return *backlog;
}

}  // namespace lockstep::io

// Defined under other names, because the C library's headers define both as inline functions.
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
