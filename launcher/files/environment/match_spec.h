#pragma once
// Checks the text of a conda match spec under `dependencies`: "numpy", "numpy=1.26=py311_0", "numpy
// >=1.22,<2", "conda-forge::zlib", "zlib[version='>=1.2',build='h*']". Grammar: conda's
// documentation, "Package match specifications". It reports faults that would make a solver fail on
// a node, but does not look whether the package exists.

#include <string_view>

#include "common/base/result.h"

namespace lockstep::spec {

// Checks a spec. Errors begin with the spec in quotes.
Status check_match_spec(std::string_view spec);

}  // namespace lockstep::spec
