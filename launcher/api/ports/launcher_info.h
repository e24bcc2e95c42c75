#pragma once
// The facts about the launcher's process that GetStatus reports.

#include <cstdint>
#include <string>

#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/domain/messages/views.h"

namespace lockstep::launcher {

// The fields of GetStatus in addition to the core's data.
struct LauncherInfo {
  std::string endpoint;  // the endpoint of the control socket
  std::int64_t pid = 0;
  std::string home;
  Instant started;
  Bytes disk_free = {};  // these three as in LauncherStatus
  Bytes low_space = {};
  std::string low_reason = {};
  DiskWrites writes = {};
};

}  // namespace lockstep::launcher
