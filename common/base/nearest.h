#pragma once
// Suggestions for misspelt words.

#include <span>
#include <string>
#include <string_view>

namespace lockstep {

// The nearest of `candidates` to `word` by edit distance, or "" when none is near.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace lockstep
