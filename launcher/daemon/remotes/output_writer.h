#pragma once
// Performs the core's action to write a job's output to a remote: finds the remote in the
// operator's datastores, as they are at that moment, and tells the core how the write ended.

#include "launcher/api/ports/operator_files.h"
#include "launcher/api/ports/running_core.h"
#include "launcher/core/base/action.h"
#include "launcher/daemon/remotes/writer.h"

namespace lockstep::launcher {

class OutputWriter {
 public:
  OutputWriter(RunningCore& core, const OperatorFiles& files, RemoteWriter& remotes)
      : core_(core), files_(files), remotes_(remotes) {}

  void perform(const WriteOutput& action);

 private:
  RunningCore& core_;
  const OperatorFiles& files_;
  RemoteWriter& remotes_;
};

}  // namespace lockstep::launcher
