#pragma once
// Finds the owner of the other end of a TCP connection within this network namespace. It asks the
// kernel (sock_diag(7), otherwise /proc/net/tcp), not the peer, so that a process of another
// account cannot pretend to be ours.

#include <sys/types.h>

#include <string>

#include "common/base/result.h"

namespace lockstep::pmix {

class PeerOwners {
 public:
  enum class Way { diag, proc };
  explicit PeerOwners(Way way) : way_(way) {}
  // Tests with a connection of its own whether the kernel tells owners; returns unsupported if not.
  static Result<PeerOwners> find_out();

  // The account that made the peer's socket. `fd`: a connection that was just accepted. An error:
  // it is not a TCP connection from this namespace, or one end has closed it already, so that its
  // owner is unknown.
  Result<uid_t> owner(int fd) const;

 private:
  Way way_;
};

}  // namespace lockstep::pmix
