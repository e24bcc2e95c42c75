#pragma once
// The docker provider: makes containers of an image into nodes. docs/decisions/038-providers.md.

#include "launcher/compute/contract.h"

namespace lockstep::compute::docker {

// Carries the request out for all of its machines, several at a time. invalid_argument: the request
// or its settings are wrong, and nothing was done. Else the number of machines that failed; each
// was told by an event.
Result<int> carry_out(Verb verb, const Request& request, Events& events);

}  // namespace lockstep::compute::docker
