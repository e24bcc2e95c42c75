#pragma once
// The ssh provider: makes the hosts of a target into nodes, and gives them back.
// docs/decisions/038-providers.md.

#include "launcher/compute/contract.h"
#include "launcher/compute/ssh/client.h"

namespace lockstep::compute::ssh {

// Carries out the request for all of its machines, or for all hosts if it names none, several at a
// time. Returns invalid_argument if the request or its settings are wrong; then nothing was done.
// Otherwise returns the number of machines that failed; an event reported each of them.
Result<int> carry_out(Verb verb, const Request& request, const std::string& program,
                      Events& events);

}  // namespace lockstep::compute::ssh
