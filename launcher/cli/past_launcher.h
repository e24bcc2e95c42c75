#pragma once
// What is known of the launcher of a home that does not run now: whether `lockstep` started it
// last, and so may start it again, or its operator, who must. Reads the files that lockstepd left.

#include <optional>
#include <string>

#include "common/base/result.h"
#include "launcher/cli/local_home.h"

namespace lockstep::cli {

// True: an operator started the launcher of this home last, by hand or with a service.
bool is_operators(const LocalHome& home);

// unavailable: the home is an operator's; the error says since when its launcher does not run, as
// far as that is known, and the command that starts it again.
Status may_start_launcher(const LocalHome& home);

// Of one that has ended: "`lockstep up` starts it again", or its operator's command.
std::string how_to_start(const LocalHome& home);

}  // namespace lockstep::cli
