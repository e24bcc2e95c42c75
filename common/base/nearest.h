#pragma once
// Finds the known word that a misspelt word probably means.

#include <span>
#include <string>
#include <string_view>

namespace lockstep {

// The one of `candidates` with the smallest edit distance to `word`, or "" when none is near
// enough.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace lockstep
