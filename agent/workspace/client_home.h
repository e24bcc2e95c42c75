#pragma once
// The folder with which ranks reach the launcher (docs/decisions/055): LOCKSTEP_HOME of the
// `lockstep` command in their job.

#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/snapshot/checkout/materialize.h"

namespace lockstep::agent {

struct ClientAccess {
  std::string endpoint;    // the text of endpoint.json
  std::string secret_key;  // the key of the attempt, z85
  AttemptId attempt;
};

// Makes the folder new, and gives it to `owner` when it is complete: until then it is closed to all
// others.
Status make_client_home(const io::AttemptDir& directory, const ClientAccess& access,
                        const snapshot::Owner& owner);

// Replaces endpoint.json, because the launcher has another address now. The owner stays the same.
// Does nothing if the folder does not exist.
Status renew_endpoint(const io::AttemptDir& directory, const std::string& endpoint);

}  // namespace lockstep::agent
