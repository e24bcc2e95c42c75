#pragma once
// Listening TCP sockets and what they accept. Non-blocking, close-on-exec; for servers of their own
// protocol. ZeroMQ binds and accepts by itself (transport.h).

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/file_system.h"
#include "common/io/net/admission.h"

namespace lockstep::io {

// Listens on every address that `host` (a name or a numeric address) has on this machine. With
// port 0 it listens on the first address only, on a port that the kernel chooses.
Result<std::vector<Fd>> listen_tcp(const std::string& host, std::uint16_t port);
Result<std::uint16_t> port_of(int listener);

struct AcceptedStream {
  Fd fd;
  Admission::Peer peer;  // its address is "" if it came over a unix socket
};
// Of a TCP or unix listener. unavailable: nothing waits. resource_exhausted: the process or the
// machine has no descriptor or memory for it now; it waits on.
Result<AcceptedStream> accept_stream(int listener);

}  // namespace lockstep::io
