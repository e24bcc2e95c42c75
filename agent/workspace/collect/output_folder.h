#pragma once
// Finds the folder that ranks use as ./outputs, ./logs, a named output or the checkpoint, also if
// they made it a symlink: into the working directory, or to a folder of the job's user anywhere on
// the node. Call it with that user's rights (io::ActAs): it opens nothing that the user could not,
// and through no link of the kernel's (/proc/PID/fd), which would lead to files of the agent.

#include <sys/types.h>

#include <string>
#include <vector>

#include "agent/workspace/collect/open_below.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/runners/workspace_plan.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::agent {

struct LinkRules {
  // Absolute paths, as ranks see the directory or may have seen it; the likeliest first.
  std::vector<std::string> working_directories;
  std::string base;           // the folder as the agent sees it, resolved
  bool in_container = false;  // true: paths outside of it are the container's
  uid_t owner = 0;            // the owner of outside folders that are followed
};
LinkRules link_rules(const Assignment& assignment, const WorkspacePlan& plan,
                     const io::AttemptDir& directory, const io::User& user);

struct OutputFolder {
  Opened opened;
  std::string folder;    // the folder's path in the working directory; "": it is outside
  bool is_link = false;  // a symlink was followed
};
// Opens an output's folder. `folder`: "a/b", below `base`. For Opened::other, `why` completes a
// sentence about `folder`.
OutputFolder open_output(const io::Fd& base, const std::string& folder, const LinkRules& rules);

}  // namespace lockstep::agent
