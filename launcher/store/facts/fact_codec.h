#pragma once
// Encodes one fact to the bytes of a journal row and decodes it. The decoder accepts every fact
// that any earlier version wrote, refuses damaged bytes, and never crashes.

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "launcher/state/facts/fact.h"

namespace lockstep::launcher {

// The format of a row, increased when an older program could no longer interpret it.
inline constexpr int kFactFormat = 1;

std::string encode_fact(const Fact& fact);
Result<Fact> decode_fact(std::string_view payload);

}  // namespace lockstep::launcher
