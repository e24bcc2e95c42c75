#pragma once
// Answers clients' requests that change nothing, from the core's views. No socket, no clock, no
// journal.

#include <variant>

#include "common/domain/messages/client_protocol.h"
#include "launcher/api/queries/viewer.h"
#include "launcher/core/core.h"

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

// One reply to ListJobs holds no more than this; the client asks for the rest with `after`.
inline constexpr std::size_t kMaxJobsPerPage = 1'000;
inline constexpr std::size_t kMaxPageBytes = 8u << 20;

// The requests that change nothing. For WatchJob, only its first answer comes from here.
using Query = std::variant<ListJobs, ShowJob, ExplainJob, ListEvents, WatchJob, ListNodes, ShowNode,
                           ShowEnvironment, ListEnvironments, GetStatus, ListTokens>;

// The answer, without what the viewer may not see.
ClientReply answer(const Core& core, const LauncherInfo& info, const Viewer& viewer,
                   const Query& question);

// What those who watch a job are told: how its ranks ended only with the report of a failure.
ViewDetail detail_for_watchers(const Job& job);

}  // namespace lockstep::launcher
