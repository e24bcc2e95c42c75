#pragma once
// What the process knows of itself that GetStatus tells.

#include <cstdint>
#include <string>

#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/domain/messages/views.h"

namespace lockstep::launcher {

// What GetStatus reports in addition to the core's data.
struct LauncherInfo {
  std::string endpoint;  // of the control socket
  std::int64_t pid = 0;
  std::string home;
  Instant started;
  Bytes disk_free = {};  // these three as in LauncherStatus
  Bytes low_space = {};
  std::string low_reason = {};
  DiskWrites writes = {};
};

}  // namespace lockstep::launcher
