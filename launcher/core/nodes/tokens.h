#pragma once
// Join tokens: how people call one, and their end.

#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// The name of a token among people: the first characters of its hash.
std::string token_id(const Digest& secret_hash);
// All tokens of the machine, but for `kept`.
void forget_tokens(Context& core, const std::string& target, const std::string& machine,
                   const Digest* kept = nullptr);

}  // namespace lockstep::launcher
