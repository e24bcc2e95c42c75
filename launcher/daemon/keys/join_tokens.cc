#include "launcher/daemon/keys/join_tokens.h"

#include <fmt/format.h>

#include "common/base/digest.h"
#include "common/io/process.h"

namespace lockstep::launcher {

NewToken make_join_token(wire::JoinToken blank, Instant expires) {
  blank.secret.clear();
  for (int i = 0; i < 4; ++i) blank.secret += fmt::format("{:016x}", io::random_u64());
  blank.expires = expires;
  return {sha256(blank.secret), {wire::encode(blank), expires}};
}

}  // namespace lockstep::launcher
