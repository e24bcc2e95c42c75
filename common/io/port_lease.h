#pragma once
// A TCP port leased to one holder per network namespace. The lock is an abstract unix socket named
// after the port: all users of the namespace share these names, the kernel releases a name with its
// holder, and taking one neither blocks nor follows a link. A hostile user who takes a name costs
// us that one port, as if they had bound it. The port itself is held bound (SO_REUSEADDR, never
// listening), so that the user's program can still bind and listen. Leases lie outside
// ip_local_port_range, so that the kernel hands them to nobody.

#include <cstdint>

#include "common/base/result.h"
#include "common/io/file_system.h"

namespace lockstep::io {

struct PortRange {
  std::uint16_t first = 6105, last = 7104;
};  // 6105: Azure's MASTER_PORT

class PortLease {
 public:
  // The first free port of the range; resource_exhausted: no port is free.
  static Result<PortLease> acquire(PortRange range);
  std::uint16_t port() const { return port_; }
  // True when someone else listens on the port now (checked before rank 0 starts).
  bool taken() const;

 private:
  PortLease(std::uint16_t port, Fd lock, Fd bound);
  std::uint16_t port_ = 0;
  Fd lock_, bound_;
};

}  // namespace lockstep::io
