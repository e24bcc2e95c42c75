#pragma once
// Who owns the other end of a TCP connection within this network namespace. The kernel is asked
// (sock_diag(7), else /proc/net/tcp), not the peer: so a process of another account cannot pass for
// one of ours.

#include <sys/types.h>

#include <string>

#include "common/base/result.h"

namespace lockstep::pmix {

class PeerOwners {
 public:
  enum class Way { diag, proc };
  explicit PeerOwners(Way way) : way_(way) {}
  // Tries it on a connection of its own. unsupported: the kernel tells nobody here.
  static Result<PeerOwners> find_out();

  // The account that made the peer's socket. `fd`: a connection that was just accepted. An error:
  // it is no TCP connection from here, or one end has closed it already, so that nobody can tell
  // whose it was.
  Result<uid_t> owner(int fd) const;

 private:
  Way way_;
};

}  // namespace lockstep::pmix
