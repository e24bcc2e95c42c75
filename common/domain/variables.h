#pragma once
// Checks environment variables that people set: for a job, or for all jobs with one environment.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep {

// The PATH of a rank whose job has no environment.
inline constexpr std::string_view kLoginPath = "/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin";

inline constexpr std::size_t kMaxEnvironmentBytes = 1 << 20;

// Checks that execve(2) accepts the variables. Errors begin with `key` ("environment_variables").
Status validate_variables(const std::string& key,
                          const std::map<std::string, std::string>& variables);

// Whether Lockstep sets this variable for each rank (RANK, PATH, CONDA_PREFIX, …). An environment
// must not set it.
bool is_rank_variable(std::string_view name);

}  // namespace lockstep
