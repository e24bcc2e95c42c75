#pragma once
// A user's settings for all their commands, kept in $LOCKSTEP_HOME/config.json as `az config` does.
// The only key today is defaults.compute.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "launcher/cli/connection.h"
#include "launcher/cli/local_home.h"

namespace lockstep::cli {

inline constexpr std::string_view kDefaultCompute = "defaults.compute";

using Settings = std::map<std::string, std::string>;  // by key

// Returns no settings when the file does not exist. Errors name the file and say how to repair it.
Result<Settings> read_settings(const LocalHome& home);
Status write_settings(const LocalHome& home, const Settings& settings);
// invalid_argument: the key does not exist (the error names the nearest one), or the value is not
// valid for it.
Status check_setting(const std::string& key, const std::string& value);

// The target of a job that names none: LOCKSTEP_COMPUTE, else the setting.
struct ComputeChoice {
  std::string name;   // "": target local
  std::string where;  // its source, for messages: "job.yml:3:10", "--compute", "LOCKSTEP_COMPUTE"
};
Result<ComputeChoice> default_compute(const LocalHome& home);

// Checks that the launcher has this target. Errors of the launcher begin with `where`.
Status expect_compute(Connection& connection, const ComputeChoice& choice);
// kExitUsage for a target that does not exist, since the command line or the job file is wrong;
// `otherwise` for any other error.
int exit_code_for(const Error& error, int otherwise);

}  // namespace lockstep::cli
