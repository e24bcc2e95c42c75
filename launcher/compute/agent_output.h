#pragma once
// Reads the output of agents, and of the programs that start them.

#include <string>
#include <string_view>

namespace lockstep::compute {

// True if an agent that prints this line has its identity: the launcher accepted it, now or
// earlier.
bool says_joined(std::string_view line);

// The last line with text, cut to 500 bytes.
std::string last_line(std::string_view text);

}  // namespace lockstep::compute
