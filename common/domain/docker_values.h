#pragma once
// The values of those options of `docker run` that everybody may give; see docker_options.h.

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep {

// Messages name neither option nor value. Not for a value that is the operator's.
Status check_docker_value(std::string_view option, const std::string& value);

// Whether only an operator may give this value, though the option is everybody's.
bool is_operators_value(std::string_view option, std::string_view value);

}  // namespace lockstep
