#pragma once
// The questions of a client that change nothing, answered from the core's pictures. No socket, no
// clock, no journal.

#include <variant>

#include "common/domain/client_messages.h"
#include "launcher/api/viewer.h"
#include "launcher/core/core.h"

namespace lockstep::launcher {

// What GetStatus says beside what the core knows.
struct LauncherInfo {
  std::string endpoint;  // of the control socket
  std::int64_t pid = 0;
  std::string home;
  Instant started;
  Bytes disk_free = {};  // the same words as in LauncherStatus
  Bytes low_space = {};
  std::string low_reason = {};
};

// One reply to ListJobs holds no more than this; the rest is asked for with `after`.
inline constexpr std::size_t kMaxJobsPerPage = 1'000;
inline constexpr std::size_t kMaxPageBytes = 8u << 20;

// The requests that change nothing. Of WatchJob: its first answer.
using Query = std::variant<ListJobs, ShowJob, ExplainJob, ListEvents, WatchJob, ListNodes, ShowNode,
                           ShowEnvironment, ListEnvironments, GetStatus>;

// As the viewer may see it.
ClientReply answer(const Core& core, const LauncherInfo& info, const Viewer& viewer,
                   const Query& question);

}  // namespace lockstep::launcher
