#pragma once
// A TCP port leased to one holder per network namespace. The lock is an abstract unix socket named
// after the port: all users of the namespace share these names, the kernel drops a name with its
// last holder, and opening one can neither block nor follow a link. The port itself is kept bound
// (SO_REUSEADDR, never listening), so that the user's program can still bind and listen. Who
// holds a name without its port has no lease: when all names are held, a port that nobody has bound
// is leased. Leased ports lie outside ip_local_port_range, so that the kernel gives them to nobody;
// where others hold all of them, a port that the kernel chooses is leased: while we have it bound,
// the kernel gives it to nobody else.

#include <cstdint>

#include "common/base/result.h"
#include "common/io/file_system.h"

namespace lockstep::io {

struct PortRange {
  std::uint16_t first = 6105, last = 7104;
};  // 6105: Azure's MASTER_PORT

class PortLease {
 public:
  // Leases the first free port of the range; resource_exhausted: none is free. The error says whose
  // programs listen there.
  static Result<PortLease> acquire(PortRange range);
  // Leases a port of the range, or any other free port if the range has none; resource_exhausted:
  // no port is free.
  static Result<PortLease> acquire_or_any(PortRange preferred);
  std::uint16_t port() const { return port_; }
  // Whether someone else listens on the port now (checked before rank 0 starts).
  bool taken() const;

 private:
  PortLease(std::uint16_t port, Fd lock, Fd bound);
  std::uint16_t port_ = 0;
  Fd lock_, bound_;
};

}  // namespace lockstep::io
