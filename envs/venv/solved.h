#pragma once
// Reads the output of a solver of Python packages as locked packages: pip's installation report
// (pip's documentation, "Installation Report", version 1), or the requirements with hashes of
// `uv pip compile --generate-hashes`.

#include <string_view>
#include <vector>

#include "envs/lock.h"

namespace lockstep::envs {

// Reads the packages of a report, sorted by name. An error names the package that cannot be locked,
// and why.
Result<std::vector<LockedPackage>> packages_of_report(std::string_view json);
Result<std::vector<LockedPackage>> packages_of_compiled(std::string_view requirements);

}  // namespace lockstep::envs
