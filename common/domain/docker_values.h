#pragma once
// The values of those options of `docker run` that everybody may give; see docker_options.h.

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep {

// The error names neither option nor value; the caller adds them. Values that only operators may
// give are not checked here.
Status check_docker_value(std::string_view option, const std::string& value);

// Whether only an operator may give this value, though the option is everybody's.
bool is_operators_value(std::string_view option, std::string_view value);

}  // namespace lockstep
