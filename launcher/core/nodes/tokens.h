#pragma once
// Join tokens: the short name of a token, and its removal.

#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// The name by which people refer to a token: the first characters of its hash.
std::string token_id(const Digest& secret_hash);
// Forgets all tokens of the machine except `kept`.
void forget_tokens(Context& core, const std::string& target, const std::string& machine,
                   const Digest* kept = nullptr);

}  // namespace lockstep::launcher
