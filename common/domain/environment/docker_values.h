#pragma once
// Checks values of the `docker run` options that everybody may use; see docker_options.h.

#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep {

inline constexpr Bytes kMinShmSize = kibibytes(64);

// Checks an option's value. Errors name neither the option nor the value; the caller adds them. Not
// to be called for a value for which is_operators_value() is true.
Status check_docker_value(std::string_view option, const std::string& value);

// Whether only an operator may use this value, although everybody may use the option.
bool is_operators_value(std::string_view option, std::string_view value);

}  // namespace lockstep
