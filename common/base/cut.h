#pragma once
// A text that is not longer than there is room for.

#include <cstddef>
#include <string>

namespace lockstep {

// At most `limit` bytes of it, and no half of a UTF-8 character; "…" follows what was cut.
std::string cut(std::string text, std::size_t limit);

// At most `limit` bytes of a longer text for people: its beginning and its end, which is where
// tools say why they fail, with a line between them that says how much is left out.
// `limit` is more than 200.
std::string cut_middle(std::string text, std::size_t limit);

}  // namespace lockstep
