#pragma once
// The ranks' /dev/shm: a tmpfs of the attempt's own, in the mount namespace of lockstep-spawn. All
// its ranks on the node share it, and it disappears with the last of them. Without it, shared
// memory of killed ranks stays on the node and takes memory until a person removes it.

#include <string>

#include "common/base/result.h"
#include "common/domain/runners/assignment.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/process.h"

namespace lockstep::runner {

class SharedMemory {
 public:
  SharedMemory(const Assignment& assignment, const io::AttemptDir& directory,
               const io::User& run_as);

  // Why the ranks use the node's /dev/shm; "": they get their own.
  const std::string& why_of_node() const { return why_of_node_; }
  // Mounts it; called in the new mount namespace, after all other mounts.
  Status mount() const;

 private:
  std::string why_of_node_;
  Bytes size_;  // 0: as the kernel has it
};

}  // namespace lockstep::runner
