#pragma once
// The view of a machine for users.

#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

MachineView view_of(const Context& core, const std::string& target, const std::string& name,
                    const Machine& machine);

}  // namespace lockstep::launcher
