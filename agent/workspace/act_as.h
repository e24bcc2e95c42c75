#pragma once
// This thread, and threads that it starts, touch files with another user's rights until the object
// goes. For reading outputs of a job: symlinks or swapped folders that its ranks planted then lead
// to nothing that the job's user could not read.

#include <sys/types.h>

#include <vector>

#include "common/base/result.h"
#include "common/io/process.h"

namespace lockstep::agent {

class ActAs {
 public:
  // Does nothing unless we are root and `user` is not.
  static Result<ActAs> begin(const io::User& user);
  ~ActAs();
  ActAs(ActAs&& other) noexcept;
  ActAs& operator=(ActAs&&) = delete;

 private:
  ActAs() = default;
  bool active_ = false;
  std::vector<gid_t> groups_;  // to go back to
};

}  // namespace lockstep::agent
