#pragma once
// What a solver of Python packages printed, as locked packages: pip's installation report
// (pip's documentation, "Installation Report", version 1), or the requirements with hashes of
// `uv pip compile --generate-hashes`.

#include <string_view>
#include <vector>

#include "envs/lock.h"

namespace lockstep::envs {

// Errors name the package that cannot be locked, and why. Sorted by name.
Result<std::vector<LockedPackage>> packages_of_report(std::string_view json);
Result<std::vector<LockedPackage>> packages_of_compiled(std::string_view requirements);

}  // namespace lockstep::envs
