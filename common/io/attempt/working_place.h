#pragma once
// Gives one path to the working directory of all attempts of a job, on a node whose runners can
// have no mount namespace. While the ranks run, the attempt's code/ is moved to that path, which
// realpath() and getcwd() then show. When the ranks have ended, it is moved back. A lock beside the
// path ("<path>.lock", with the attempt's directory as its text) is held by the runner meanwhile.
// The kernel drops the lock with the runner, and the next user of the path moves its content back.
// docs/decisions/065-one-path-one-grace-one-clock.md

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/file_system.h"

namespace lockstep::io {

class WorkingPlace {
 public:
  // Moves directory.code() to `path`, and makes the last two folders above it if they are missing.
  // conflict: another attempt's runner has the path. io: it is on another file system.
  static Result<WorkingPlace> take(const AttemptDir& directory, const std::string& path);

  const std::string& path() const { return path_; }
  // Moves it back. No rank may run any more.
  Status give_back();

 private:
  WorkingPlace(AttemptDir directory, std::string path, Fd lock)
      : directory_(std::move(directory)), path_(std::move(path)), lock_(std::move(lock)) {}

  AttemptDir directory_;
  std::string path_;
  Fd lock_;
};

// The folder in which the attempt's files are now: its code/, or the path that replaces it.
std::string working_directory(const AttemptDir& directory);

// Moves the files back if the attempt's runner has ended without doing so. Returns unavailable
// while it runs.
Status bring_back(const AttemptDir& directory);

// The directory of the attempt whose live runner has `path`; "": no runner has it.
std::string holder_of_place(const std::string& path);

// Whether that is another attempt of `job` on the agent of `directory`, itself an attempt of `job`.
// Agents of one machine share paths, and so may two jobs whose shortened names are equal.
bool is_held_by_same_job(const std::string& path, const AttemptDir& directory, const JobId& job);

// The paths that an attempt of the job can have on this node, best first: the one that all nodes of
// this account share, and one that belongs to this agent alone.
std::vector<std::string> working_places(const AttemptDir& directory, const JobId& job);

}  // namespace lockstep::io
