#pragma once
// What a user has chosen once for all their commands: $LOCKSTEP_HOME/config.json, as `az config`
// keeps it. Today one key, defaults.compute.

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
// invalid_argument: no such key (with the nearest), or no value of it.
Status check_setting(const std::string& key, const std::string& value);

// Where a job goes that names no target: LOCKSTEP_COMPUTE, else the setting.
struct ComputeChoice {
  std::string name;   // "": target local
  std::string where;  // who says so, for messages: "job.yml:3:10", "--compute", "LOCKSTEP_COMPUTE"
};
Result<ComputeChoice> default_compute(const LocalHome& home);

// The launcher has this target. Its answer begins with `where` when it has not.
Status expect_compute(Connection& connection, const ComputeChoice& choice);
// A target that is not there is a mistake of the command line or the file; else `otherwise`.
int exit_code_for(const Error& error, int otherwise);

}  // namespace lockstep::cli
