#pragma once
// The key by which a pipeline's step may reuse the outputs of another: steps with equal keys give
// their ranks the same files, command and variables, so that they would write the same outputs.

#include <optional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/domain/messages/views.h"

namespace lockstep::launcher {

// The key of a step's result. nullopt: the result must not be reused, because the step has no
// outputs, or depends on something with unknown content: a secret, or a path or address that is
// read in place.
std::optional<Digest> reuse_key(const JobSpec& spec);

// The parts of the key in which two jobs differ; for the code, and for inputs that both have, also
// the two trees of files if those differ. Empty: the keys are equal.
std::vector<PartChange> differences(const JobSpec& before, const JobSpec& now);

}  // namespace lockstep::launcher
