#pragma once
// Prints names of files in messages. A name may hold any byte but '/' and NUL, so a name with a
// newline could otherwise look like a line of our own output.

#include <string>
#include <string_view>

namespace lockstep {

// The name (or path) unchanged; or in double quotes with C escapes when it is empty, holds a
// control character, or begins with a double quote.
std::string quoted_name(std::string_view name);

}  // namespace lockstep
