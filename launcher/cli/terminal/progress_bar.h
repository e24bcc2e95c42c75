#pragma once
// Progress bars for a terminal.

#include <string>
#include <string_view>

namespace lockstep::cli {

// Puts a bar before each word like "120/340": "[=== ] 120/340".
std::string with_bars(std::string_view text);

}  // namespace lockstep::cli
