#pragma once
// What an engine's words mean: whether it would say them again. Messages are one line, with what it
// said last: all of it is in the log.

#include <string>
#include <string_view>

#include "envs/toolbox.h"

namespace lockstep::envs {

// Of an image that `engine` does not have. unavailable, resource_exhausted: it may pass. not_found:
// there is no such image, or it may not be had.
Error pull_failure(std::string_view image, std::string_view engine, const Toolbox::Answer& answer);
// invalid_argument, unless it is the network's, the disk's or the daemon's.
Error build_failure(std::string_view what, const Toolbox::Answer& answer);
// Of the node: unavailable or resource_exhausted.
Error engine_failure(std::string_view what, const Toolbox::Answer& answer);

bool says_no_such_image(std::string_view text);

// Of several lines that which says what went wrong; "" = none.
std::string last_words(std::string_view text);

}  // namespace lockstep::envs
