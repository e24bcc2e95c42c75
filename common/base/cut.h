#pragma once
// A text that is not longer than there is room for.

#include <cstddef>
#include <string>

namespace lockstep {

// At most `limit` bytes of it, and no half of a UTF-8 character; "…" follows what was cut.
std::string cut(std::string text, std::size_t limit);

}  // namespace lockstep
