#pragma once
// What agents, and the programs that start them, print.

#include <string>
#include <string_view>

namespace lockstep::compute {

// Whether an agent that prints this line has its identity: it was accepted, now or earlier.
bool says_joined(std::string_view line);

// The last line that says something, cut to 500 bytes.
std::string last_line(std::string_view text);

}  // namespace lockstep::compute
