#include "launcher/cli/local/node_restarter.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/cli/local/launcher.h"

namespace lockstep::cli {

void LocalNodeRestarter::check(Instant now) {
  if (now < next_) return;
  const auto started = LocalLauncher(home_, terminal_).restart_agents();
  if (started && started->empty()) return;
  next_ = now + pause_;
  pause_ = std::min(pause_ * 2, kLongestPause);
  if (!started)
    return terminal_.print_line(started.error().message + "; `lockstep up` starts the local nodes");
  for (const auto& name : *started)
    terminal_.print_line(
        fmt::format("the agent of node {} had ended; started it again (its log: {})", name,
                    home_.agent_log(name)));
}

}  // namespace lockstep::cli
