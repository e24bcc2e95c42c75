#include "runner/steps/activate.h"
#include "runner/steps/step.h"

namespace lockstep::runner {
namespace {

// The login environment of the user that ranks run as, without variables of the submitter's or the
// agent's shell.
std::map<std::string, std::string> login_environment(const LaunchContext& context) {
  const io::User& user = context.gang->rank_user();
  return {
      {"HOME", user.home},
      {"USER", user.name},
      {"LOGNAME", user.name},
      {"SHELL", user.shell.empty() ? "/bin/sh" : user.shell},
      {"PATH", std::string(kLoginPath)},
      {"LANG", "C.UTF-8"},
      {"TMPDIR", context.gang->rank_tmp()},
      {"PWD", context.directory},
  };
}

// The short path of a file. A bootstrap's server is outside the ranks' mounts and names files by
// their own paths.
std::string by_short_path(const GangContext& gang, const std::string& value) {
  const std::string below = gang.tmp_directory + "/";
  return value.starts_with(below) ? gang.rank_tmp() + value.substr(below.size() - 1) : value;
}

void append_folder(std::string& path, const std::string& folder) {
  if ((":" + path + ":").find(":" + folder + ":") != std::string::npos) return;
  path += (path.empty() ? "" : ":") + folder;
}

}  // namespace

std::string put_in_paths(const LaunchContext& context, const std::string& text) {
  return put_in_outputs(put_in_inputs(text, context.inputs), context.outputs);
}

// Later variables replace earlier ones: login, every job's, the user's (which include those of the
// user's environment, see activate.h), the bootstrap's. The bootstrap leaves out what the user
// sets, except for the variables that an MPI rank needs to reach its server (Variables::force).
Status set_environment(const LaunchContext& context, RankLaunch& rank) {
  auto environment = login_environment(context);
  for (auto& [name, value] : common_environment(*context.gang, rank.rank, rank.local_rank))
    environment[name] = value;
  for (const auto& [name, value] : context.inputs) environment["AZURE_ML_INPUT_" + name] = value;
  for (const auto& [name, path] : context.outputs) environment["AZURE_ML_OUTPUT_" + name] = path;
  if (!context.client_home.empty()) {
    environment["LOCKSTEP_HOME"] = context.client_home;
    environment["LOCKSTEP_LAUNCHER"] = context.client_home + "/endpoint.json";
  }
  environment["LOCKSTEP_CHECKPOINT_DIR"] = context.directory + "/" + std::string(kCheckpointFolder);
  for (const auto& [name, value] : rank.bootstrap)
    environment[name] = by_short_path(*context.gang, value);
  for (const auto& [name, value] : context.gang->assignment.spec.environment_variables)
    if (rank.bootstrap.count(name) == 0) {
      TRY_ASSIGN(environment[name], put_in_secrets(put_in_paths(context, value), context.secrets));
    }
  if (!context.client_folder.empty()) append_folder(environment["PATH"], context.client_folder);
  rank.process.environment = std::move(environment);
  return {};
}

}  // namespace lockstep::runner
