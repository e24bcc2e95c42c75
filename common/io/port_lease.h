#pragma once
// A TCP port leased to one holder per network namespace: a lock file per port in a directory all
// local nodes share, and the port itself held bound (SO_REUSEADDR, never listening), so that the
// user's program can still bind and listen. Outside ip_local_port_range, so that the kernel hands
// it to nobody.

#include <cstdint>

#include "common/base/result.h"
#include "common/io/file_system.h"

namespace lockstep::io {

struct PortRange {
  std::uint16_t first = 6105, last = 7104;
};  // 6105: Azure's MASTER_PORT

class PortLease {
 public:
  // `lock_directory`: one per network namespace (see port_lock_directory()).
  static Result<PortLease> acquire(const std::string& lock_directory, PortRange range);
  std::uint16_t port() const { return port_; }
  // True when someone else listens on the port now (checked before rank 0 starts).
  bool taken() const;

 private:
  PortLease(std::uint16_t port, Fd lock, Fd bound);
  std::uint16_t port_ = 0;
  Fd lock_, bound_;
};

// /tmp/lockstep-ports-<netns inode>, mode 1777: shared by all users and nodes of this namespace.
std::string port_lock_directory();

}  // namespace lockstep::io
