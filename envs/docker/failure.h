#pragma once
// Turns an engine's error output into an error whose code says whether a retry may succeed. The
// message is one line, with the engine's last one; the log has the whole output.

#include <string>
#include <string_view>

#include "envs/toolbox.h"

namespace lockstep::envs {

// The error for an image that could not be pulled into `engine`. unavailable, resource_exhausted: a
// later try may succeed (network, disk, engine down). not_found: the registry does not have the
// image, or does not let us pull it.
Error pull_failure(std::string_view image, std::string_view engine, const Toolbox::Answer& answer);
// The error of a failed build: invalid_argument, unless the network, the disk or the engine failed.
Error build_failure(std::string_view what, const Toolbox::Answer& answer);
// A failure of the node's engine: unavailable or resource_exhausted.
Error engine_failure(std::string_view what, const Toolbox::Answer& answer);

bool says_no_such_image(std::string_view text);

// The line of `text` that tells the failure; "" = none.
std::string last_words(std::string_view text);

}  // namespace lockstep::envs
