#pragma once
// While this object exists, this thread and threads that it starts access files with another user's
// rights. It is for reading the files of a job's ranks: even if they contain symlinks or swapped
// folders, the agent reads nothing that the job's user could not read.

#include <sys/types.h>

#include <vector>

#include "common/base/result.h"
#include "common/io/process.h"

namespace lockstep::io {

class ActAs {
 public:
  // Does nothing unless we are root and `user` is not.
  static Result<ActAs> begin(const User& user);
  ~ActAs();
  ActAs(ActAs&& other) noexcept;
  ActAs& operator=(ActAs&&) = delete;

 private:
  ActAs() = default;
  bool active_ = false;
  std::vector<gid_t> groups_;  // the groups to restore at the end
};

}  // namespace lockstep::io
