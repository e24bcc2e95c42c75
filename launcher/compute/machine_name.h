#pragma once
// Checks names and addresses of machines, which become parts of commands.

#include <string_view>

#include "common/base/result.h"

namespace lockstep::compute {

// Checks a host's name or address: letters, digits, '.', '_', '-' and ':', at most 255, and not '-'
// first.
Status check_machine_name(std::string_view name);

}  // namespace lockstep::compute
