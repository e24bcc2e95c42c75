#pragma once
// The asker of a request: who asks, over which connection, and where the answer goes.

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "launcher/core/access/authority.h"

namespace lockstep::launcher {

// The object of a request, for the audit log.
struct Asked {
  std::string what;         // "cancel job"
  std::string object;       // "job train"
  std::string detail = {};  // used when the answer has no text of its own
  bool changes = false;
  bool reads_others = false;  // the answer shows what belongs to somebody else
  // the request has values of variables or secrets, and a refusal may quote them
  bool holds_values = false;
  std::string project = {};  // the project of the object; "": none
};

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
