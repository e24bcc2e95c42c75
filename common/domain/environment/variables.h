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

// The part of the value that a shell would have replaced and Lockstep does not: "$PATH", "${HOME}",
// "~/x". "": there is none.
std::string unreplaced_in(std::string_view value);
// The note about a value that a shell would have changed: "'$PATH' stays as it is, …". `key`:
// "environment_variables.PATH".
std::string unreplaced_note(const std::string& key, const std::string& name,
                            std::string_view value);

// Whether Lockstep sets this variable for each rank (RANK, PATH, CONDA_PREFIX, …). An environment
// must not set it.
bool is_rank_variable(std::string_view name);

}  // namespace lockstep
