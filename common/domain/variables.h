#pragma once
// Environment variables as people name them: for a job, or for all jobs with one environment.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep {

// The PATH of a rank whose job has no environment.
inline constexpr std::string_view kLoginPath = "/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin";

inline constexpr std::size_t kMaxEnvironmentBytes = 1 << 20;

// What execve(2) takes. Errors begin with `key` ("environment_variables").
Status validate_variables(const std::string& key,
                          const std::map<std::string, std::string>& variables);

// Whether the variable tells a rank its number or where its environment is: Lockstep sets it, and
// an environment may not.
bool is_rank_variable(std::string_view name);

}  // namespace lockstep
