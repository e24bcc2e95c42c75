#pragma once
// What a machine may be called, and an address may be: both become parts of commands.

#include <string_view>

#include "common/base/result.h"

namespace lockstep::compute {

// Letters, digits, '.', '_', '-' and ':', at most 255, not '-' first: a host's name or address.
Status check_machine_name(std::string_view name);

}  // namespace lockstep::compute
