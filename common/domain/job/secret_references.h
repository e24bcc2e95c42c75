#pragma once
// The places of a job in which it may refer to its owner's secrets.

#include "common/base/result.h"

namespace lockstep {

struct JobSpec;

// Checks the expressions in environment_variables, and refuses expressions in other places, where
// others could read them. Errors begin with the key.
Status validate_secrets(const JobSpec& spec);

}  // namespace lockstep
