#include "launcher/core/nodes/tokens.h"

#include <vector>

namespace lockstep::launcher {

std::string token_id(const Digest& secret_hash) {
  return secret_hash.hex().substr(0, kTokenIdCharacters);
}

void forget_tokens(Context& core, const std::string& target, const std::string& machine,
                   const Digest* kept) {
  std::vector<Digest> useless;
  for (const auto& [hash, token] : core.state.tokens())
    if (token.pool == target && token.machine == machine && (kept == nullptr || hash != *kept))
      useless.push_back(hash);
  for (const Digest& hash : useless) core.emit(TokenForgotten{hash});
}

}  // namespace lockstep::launcher
