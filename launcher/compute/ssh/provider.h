#pragma once
// The ssh provider: makes the hosts of a target into nodes, and gives them back.
// docs/decisions/038-providers.md.

#include "launcher/compute/contract.h"
#include "launcher/compute/ssh/client.h"

namespace lockstep::compute::ssh {

// Carries the request out for all of its machines (all hosts where it names none), several at a
// time. invalid_argument: the request or its settings are wrong, and nothing was done. Else the
// number of machines that failed; each was told by an event.
Result<int> carry_out(Verb verb, const Request& request, const std::string& program,
                      Events& events);

}  // namespace lockstep::compute::ssh
