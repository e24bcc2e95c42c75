#pragma once
// When a step of a pipeline may stand in for another: its ranks would see the same files, command
// and variables, so that they would write the same outputs.

#include <optional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/domain/messages/views.h"

namespace lockstep::launcher {

// nullopt: its result must not be used again, because it has no outputs, or depends on something
// whose content is unknown: a secret, or a path or address that is read in place.
std::optional<Digest> reuse_key(const JobSpec& spec);

// In which parts that count for the key they differ, and of the code and of inputs that both have,
// the trees of files if those differ. Empty: in none.
std::vector<PartChange> differences(const JobSpec& before, const JobSpec& now);

}  // namespace lockstep::launcher
