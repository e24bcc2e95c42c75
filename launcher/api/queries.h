#pragma once
// The questions of a client that change nothing, answered from the core's pictures. No socket, no
// clock, no journal.

#include <optional>

#include "common/domain/messages.h"
#include "launcher/core/core.h"

namespace lockstep::launcher {

// What GetStatus says beside what the core knows.
struct LauncherInfo {
  std::string endpoint;  // of the control socket
  std::int64_t pid = 0;
  std::string home;
  Instant started;
};

// The answer to ListJobs, ShowJob, ExplainJob, WatchJob (its first), ListNodes, ShowNode and
// GetStatus; nullopt for every other message.
std::optional<Message> answer(const Core& core, const LauncherInfo& info, const Message& question);

}  // namespace lockstep::launcher
