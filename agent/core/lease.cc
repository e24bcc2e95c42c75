// Leases of parts (retry.on_lost: after_fence): a part with a lease may run only while the launcher
// knows of this node. A lease begins when a heartbeat was sent whose answer shows that the launcher
// wants the part here. The launcher received that heartbeat later and waits longer, so the part has
// ended before the launcher starts it elsewhere. docs/decisions/009-retry.md.

#include "agent/core/impl.h"

namespace lockstep::agent {

using Stage = Part::Stage;

namespace {

// The part of the lease's length by which it must have grown before the runner is told of a
// renewal.
constexpr int kRenewals = 16;

bool holds_lease(const Part& part) { return part.assignment.lease > Duration::zero(); }

}  // namespace

bool Core::Impl::has_lease(const Part& part) const {
  return !holds_lease(part) || now < part.lease_until;
}

// Handles an answer. It has what the launcher wanted when it received that heartbeat. If that
// differs from what is applied here, the launcher may have given up parts that are still here.
void Core::Impl::hear(const HeartbeatAck& message) {
  hear_of_notice(message);
  const auto sent = beats.acknowledged(message.number);
  if (link != Link::open || !sent || message.revision != revision) return;
  for (auto& [attempt, part] : parts)
    if (part.wanted && holds_lease(part)) renew(part, *sent);
}

void Core::Impl::renew(Part& part, Instant heard_after) {
  if (part.killed == Part::Killed::lease_over) return;
  part.lease_until = std::max(part.lease_until, heard_after + part.assignment.lease);
  if (part.stage == Stage::staged && has_lease(part)) start(part);
  const bool runs = part.stage == Stage::starting || part.stage == Stage::alive;
  if (!runs || part.lease_until - part.lease_written < part.assignment.lease / kRenewals) return;
  part.lease_written = part.lease_until;
  out.push_back(RenewLease{part.assignment.attempt, part.lease_until});
}

// Ends a part whose lease is over. Its runner ends the part by itself a moment later, also if no
// agent is left.
void Core::Impl::end_lease(Part& part) {
  part.killed = Part::Killed::lease_over;
  part.kill_at = now + kInsistEvery;
  out.push_back(KillRunner{part.assignment.attempt});
}

}  // namespace lockstep::agent
