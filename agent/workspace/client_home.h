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
  std::string secret_key;  // of the attempt, z85
  AttemptId attempt;
};

// Makes it anew, and gives it to `owner` when it is whole: until then it is closed to all others.
Status make_client_home(const io::AttemptDir& directory, const ClientAccess& access,
                        const snapshot::Owner& owner);

// The launcher is elsewhere now: another endpoint.json, of the same owner. Does nothing where there
// is no such folder.
Status renew_endpoint(const io::AttemptDir& directory, const std::string& endpoint);

}  // namespace lockstep::agent
