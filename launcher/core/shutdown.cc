#include "launcher/core/shutdown.h"

#include <fmt/format.h>
#include <algorithm>

#include "common/domain/why/jobs/orders.h"
#include "launcher/core/access/users.h"
#include "launcher/core/base/counted.h"
#include "launcher/core/jobs/cancel.h"

namespace lockstep::launcher {

namespace {

constexpr Duration kShutdownSlack = seconds(30);  // the time beyond grace and node_lost_timeout

Duration longest_grace(const Context& core) {
  Duration longest = core.config.stop_grace;
  for (const JobId& id : core.state.unfinished())
    longest = std::max(longest, core.state.job(id)->spec.stop.grace.value_or(longest));
  return longest;
}

}  // namespace

void react(Context& core, const ShutdownInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::shut_down)) return;
  if (!input.cancel_jobs && !core.state.unfinished().empty()) {
    std::size_t waiting = core.state.queue().size();
    std::size_t running = core.state.unfinished().size() - waiting;
    core.refuse(
        input.reply, ErrorCode::conflict,
        fmt::format("{} {} and {} {} in the queue (the first is '{}'); wait for them, or "
                    "cancel them with `lockstep down --cancel`",
                    counted(running, "job"), running == 1 ? "runs" : "run", waiting,
                    waiting == 1 ? "waits" : "wait", core.state.unfinished().begin()->value));
    return;
  }
  if (!core.stopping) {
    core.stopping.emplace();
    Instant due = core.clock.polled() + core.config.node_lost_timeout;
    if (core.grace_until) due = std::max(due, *core.grace_until);
    core.timers.set({TimerKey::Kind::shutdown, {}, {}},
                    due + longest_grace(core) + core.config.space_timeout + kShutdownSlack);
  }
  core.stopping->push_back(input.reply);
  const std::set<JobId> unfinished = core.state.unfinished();
  for (const JobId& job : unfinished) cancel(core, job, LauncherShutsDown{});
}

void continue_shutdown(Context& core) {
  if (!core.stopping || !core.state.unfinished().empty()) return;
  for (const ReplyTo& reply : *core.stopping) core.act(ExitDaemon{reply});
  core.stopping.reset();
  core.timers.clear({TimerKey::Kind::shutdown, {}, {}});
}

void give_up_shutdown(Context& core) {
  if (!core.stopping) return;
  const JobId& first = *core.state.unfinished().begin();
  for (const ReplyTo& reply : *core.stopping)
    core.refuse(
        reply, ErrorCode::deadline_exceeded,
        fmt::format("{} did not end in time (the first is '{}'; `lockstep job show {}` says "
                    "why); the launcher stays up",
                    counted(core.state.unfinished().size(), "job"), first.value, first.value));
  core.stopping.reset();
}

}  // namespace lockstep::launcher
