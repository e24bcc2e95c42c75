#pragma once
// Shortens texts to a limit.

#include <cstddef>
#include <string>

namespace lockstep {

// The first `limit` bytes at most, never half a UTF-8 character; "…" marks where it was cut.
std::string cut(std::string text, std::size_t limit);

// At most `limit` bytes of a longer text for people: its beginning and its end, which is where
// tools say why they fail, with a line between them that says how much is left out.
// `limit` is more than 200.
std::string cut_middle(std::string text, std::size_t limit);

}  // namespace lockstep
