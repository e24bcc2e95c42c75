#pragma once
// Answers clients' requests that change nothing, from the core's views. No socket, no clock, no
// journal.

#include <variant>

#include "common/domain/messages/client_protocol.h"
#include "launcher/api/ports/launcher_info.h"
#include "launcher/api/queries/viewer.h"
#include "launcher/core/core.h"

namespace lockstep::launcher {

// The most jobs in one reply to ListJobs, which also ends at about kMaxPageBytes; the client asks
// for the rest with `after`.
inline constexpr std::size_t kMaxJobsPerPage = 1'000;

// The requests that change nothing. For WatchJob, only its first answer comes from here.
using Query = std::variant<ListJobs, ShowJob, ExplainJob, ListEvents, WatchJob, ListNodes, ShowNode,
                           ShowEnvironment, ListEnvironments, GetStatus, ListTokens>;

// The answer, without the parts that the viewer may not see.
ClientReply answer(const Core& core, const LauncherInfo& info, const Viewer& viewer,
                   const Query& question);

// The detail for clients that watch a job: they learn how its ranks ended only with the report of a
// failure.
ViewDetail detail_for_watchers(const Job& job);

}  // namespace lockstep::launcher
