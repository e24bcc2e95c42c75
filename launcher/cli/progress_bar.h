#pragma once
// Bars for a terminal.

#include <string>
#include <string_view>

namespace lockstep::cli {

// Each "120/340" that stands as a word gets a bar before it: "[===       ] 120/340".
std::string with_bars(std::string_view text);

}  // namespace lockstep::cli
