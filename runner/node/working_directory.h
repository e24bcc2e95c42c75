#pragma once
// The ranks' working directory: the files that the agent staged, mounted according to its plan,
// only in the mount namespace of lockstep-spawn and its ranks. The mounts vanish with the last of
// these processes.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data/outputs.h"
#include "common/domain/runners/workspace_plan.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/beneath.h"
#include "common/io/process.h"

namespace lockstep::runner {

class Workspace {
 public:
  // Makes the directories that mounts need; those a rank writes to belong to uid:gid. Datastores'
  // directories are opened as `reader`, the ranks' user.
  static Result<Workspace> prepare(const WorkspacePlan& plan, const io::AttemptDir& directory,
                                   std::uint32_t uid, std::uint32_t gid,
                                   const std::vector<OutputSpec>& outputs = {},
                                   const io::User& reader = {});

  bool must_mount() const { return is_overlay() || !plan_.inputs.empty() || !plan_.placed.empty(); }
  bool wants_mount() const { return must_mount() || !plan_.mount_point.empty(); }
  // Mounts everything; called in the new mount namespace.
  Status mount() const;
  // Sets up the directory without a mount namespace; called instead of mount().
  Status use_in_place() const;
  // The path of the ranks' working directory, as they see it.
  std::string directory(bool mounted) const;
  // The path by which ranks refer to the attempt's directory.
  std::string attempt_directory(bool mounted) const;

 private:
  Workspace(WorkspacePlan plan, io::AttemptDir directory, std::uint32_t uid, std::uint32_t gid,
            const std::vector<OutputSpec>& outputs);
  bool is_overlay() const { return plan_.mode != WorkspacePlan::Mode::ready; }
  Status mount_overlay() const;
  Status mount_input(const StagedInput& input) const;
  Status mount_placed(const PlacedInput& input) const;
  Status bind_into_working(const std::string& ours, const std::string& name) const;
  Status bind_common_path() const;
  Status bind_alone(const std::string& bound, const std::string& target, unsigned long flags) const;
  Status make_job_directories(const std::string& below) const;
  Status make_folders(const io::Folder& working, const std::string& folder) const;

  WorkspacePlan plan_;
  io::AttemptDir directory_;
  std::uint32_t uid_, gid_;
  io::User reader_;
  std::string short_path_;  // the path at which the attempt's directory is bound; "": there is none
  std::vector<std::string> folders_;  // folders to make below the working directory
};

}  // namespace lockstep::runner
