#pragma once
// Lines that carriage returns restart, as progress bars do: each restart begins another state of
// the line. Carriage returns at its end ("\r\n") restart nothing.

#include <string>
#include <string_view>

namespace lockstep {

// The last state of a line that is not empty; its end stays.
std::string_view last_state(std::string_view line);

// A text with the last state of each of its lines.
std::string last_states(std::string_view text);

}  // namespace lockstep
