#pragma once
// One fact to the bytes of a journal row and back. The decoder takes every fact that any earlier
// version wrote, refuses what is damaged, and never crashes.

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "launcher/core/fact.h"

namespace lockstep::launcher {

// Grows when a row's meaning could no longer be read by an older program.
inline constexpr int kFactFormat = 1;

std::string encode_fact(const Fact& fact);
Result<Fact> decode_fact(std::string_view payload);

}  // namespace lockstep::launcher
