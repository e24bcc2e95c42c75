#pragma once
// Who asks, over which connection, and where the answer goes.

#include <cstdint>
#include <memory>
#include <string>

#include "launcher/api/outcome.h"
#include "launcher/core/access/authority.h"

namespace lockstep::launcher {

struct Asker {
  Caller caller;
  PublicKey key;           // the key that signed the request
  std::string address;     // "" if unknown
  std::string connection;  // the adapter's name for it; updates go there until gone()
  std::uint64_t sequence = 0;
  Instant deadline = Instant::never();
  bool takes_waits = false;  // see Envelope
  Asked asked = {};          // filled in by the service, for the audit log
  // The adapter's, which bounds how many requests of one user are not answered yet: this one counts
  // until the last copy of its asker is gone.
  std::shared_ptr<const void> share = {};
};

}  // namespace lockstep::launcher
