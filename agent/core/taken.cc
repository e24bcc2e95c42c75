// A notice that the machine will be taken away. The agent repeats it to the launcher, which decides
// what to stop. An agent that must end because of the notice ends when nothing is left to do.
// docs/decisions/046-notice-before-preemption.md.

#include "agent/core/impl.h"

namespace lockstep::agent {
namespace {

constexpr Duration kTellForNothing = seconds(1);

}  // namespace

void Core::Impl::on(const MachineTaken& input) {
  const Instant until = now + input.left;
  const bool leave = input.leave || (taken && taken->leave);
  if (!taken || until < taken->until) {
    const Instant since = taken ? taken->since : now;
    taken = Taken{until, input.reason};
    taken->since = since;
  }
  taken->leave = leave;
  if (link == Link::open) next_beat = now;
}

std::optional<PreemptionNotice> Core::Impl::notice() const {
  if (!taken) return std::nullopt;
  return PreemptionNotice{std::max<Duration>(taken->until - now, Duration::zero()), taken->reason};
}

// Handles an answer to a heartbeat with the notice. It counts if this agent knows everything that
// the launcher wants here.
void Core::Impl::hear_of_notice(const HeartbeatAck& message) {
  if (!taken || taken->told_in == 0 || message.number < taken->told_in) return;
  if (message.revision == revision.value_or(0)) taken->launcher_knows = true;
}

// When to leave. Parts that still run here end with the machine. If nothing runs, the agent need
// not wait for the launcher's answer.
Instant Core::Impl::leave_at() const {
  if (!taken || !taken->leave) return Instant::never();
  return parts.empty() ? std::min(taken->until, taken->since + kTellForNothing) : taken->until;
}

void Core::Impl::leave_if_taken() {
  if (!taken || !taken->leave) return;
  const bool is_told = taken->launcher_knows || link == Link::none || link == Link::refused;
  if ((parts.empty() && is_told) || now >= leave_at()) out.push_back(LeaveMachine{});
}

}  // namespace lockstep::agent
