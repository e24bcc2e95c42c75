#pragma once
// The sender of a request: key, address and connection, to which the answer goes.

#include <cstdint>
#include <string>

#include "launcher/api/outcome.h"
#include "launcher/core/authority.h"

namespace lockstep::launcher {

struct Asker {
  Caller caller;
  PublicKey key;           // that signed the request
  std::string address;     // "" where it is not known
  std::string connection;  // the adapter's name for it; updates go there until gone()
  std::uint64_t sequence = 0;
  Instant deadline = Instant::never();
  Asked asked = {};  // the service's: what is told to the audit log
};

}  // namespace lockstep::launcher
