#pragma once
// A user's settings for all their commands, kept in $LOCKSTEP_HOME/config.json as `az config` does.
// Settings of jobs are used if neither the job file nor an option gives a value.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/local/home.h"

namespace lockstep::cli {

inline constexpr std::string_view kDefaultCompute = "defaults.compute";
inline constexpr std::string_view kDefaultExperiment = "defaults.experiment";
inline constexpr std::string_view kDefaultOutput = "defaults.output";  // a word of `-o`

using Settings = std::map<std::string, std::string>;  // The settings, by key.

// Returns no settings when the file does not exist. Errors name the file and say how to repair it.
Result<Settings> read_settings(const LocalHome& home);
Status write_settings(const LocalHome& home, const Settings& settings);
// Checks a key. Returns invalid_argument if it does not exist, with the nearest one.
Status check_setting_name(const std::string& key);
// Checks a key and its value; returns invalid_argument if either is wrong.
Status check_setting(const std::string& key, const std::string& value);

// The target of a job that names none: LOCKSTEP_COMPUTE, else the setting.
struct ComputeChoice {
  std::string name;  // "": target local
  // the place of the choice, for messages: "job.yml:3:10", "--compute", "LOCKSTEP_COMPUTE"
  std::string where;
};
Result<ComputeChoice> default_compute(const LocalHome& home);
// Puts a job of the experiment Default, and its steps, into the experiment of the setting.
Status choose_experiment(const LocalHome& home, JobSpec& spec);
// The setting; "": none.
Result<std::string> default_output(const LocalHome& home);

// Checks that the launcher has this target. Errors of the launcher begin with `where`.
Status expect_compute(Connection& connection, const ComputeChoice& choice);
// Returns kExitUsage for a target that does not exist, since the command line or the job file is
// wrong; `otherwise` for any other error.
int exit_code_for(const Error& error, int otherwise);

}  // namespace lockstep::cli
