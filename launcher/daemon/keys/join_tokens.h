#pragma once
// Makes join tokens. The core learns only the hash of a token's secret.

#include "common/wire/join_token.h"
#include "launcher/api/ports/launcher_process.h"

namespace lockstep::launcher {

// Makes a token. `blank`: this launcher's key and endpoints; its secret and expiry are filled in.
NewToken make_join_token(wire::JoinToken blank, Instant expires);

}  // namespace lockstep::launcher
