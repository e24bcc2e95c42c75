#pragma once
// The names of jobs.

#include <cstddef>
#include <string>

#include "common/base/result.h"

namespace lockstep {

// Azure allows 255; 240 leaves room for ".<attempt>" in a file name.
inline constexpr std::size_t kMaxJobNameBytes = 240;

// Checks a name: 1-240 characters of [A-Za-z0-9_-], starting with a letter or a digit.
Status validate_job_name(const std::string& name);

}  // namespace lockstep
