#pragma once
// Names of files in messages. A name may hold anything but '/' and NUL: one with a newline must not
// look like a line of ours.

#include <string>
#include <string_view>

namespace lockstep {

// The name (or path) itself; in double quotes and with C's escapes when it holds a control
// character, or could be taken for one that was quoted.
std::string quoted_name(std::string_view name);

}  // namespace lockstep
