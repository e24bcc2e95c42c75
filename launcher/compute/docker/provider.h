#pragma once
// The docker provider: makes containers of an image into nodes. docs/decisions/038-providers.md.

#include "launcher/compute/contract.h"

namespace lockstep::compute::docker {

// Carries out the request for all of its machines, several at a time. Returns invalid_argument if
// the request or its settings are wrong; then nothing was done. Otherwise returns the number of
// machines that failed; an event reported each of them.
Result<int> carry_out(Verb verb, const Request& request, Events& events);

}  // namespace lockstep::compute::docker
