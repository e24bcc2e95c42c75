#pragma once
// Why a launcher refuses a user's key, and what the person can do about it.

#include <cstdint>

#include "common/base/result.h"
#include "common/domain/messages/join_protocol.h"
#include "common/io/net/transport.h"
#include "launcher/cli/link/endpoint.h"

namespace lockstep::cli {

// Asks the launcher for a key's standing, at its port for joining, where it tells the owner of any
// key. Waits for a few seconds; unknown if there is no answer.
KeyStanding standing_of_key(io::Transport& transport, const Endpoint& endpoint,
                            const io::KeyPair& keys, std::uint64_t sequence);

// Adds to `error` the advice for the person. A revoked key never works again, so a new one must
// replace it.
Error why_refused(Error error, const KeyStanding& standing, const io::KeyPair& keys);

}  // namespace lockstep::cli
