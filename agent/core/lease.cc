// Parts with a lease (retry.on_lost: after_fence): they may run only while the launcher knows of
// this node. A lease counts from when a heartbeat was sent whose answer shows that the launcher
// wants the part here: it heard that heartbeat later, and waits longer.
// docs/decisions/009-retry.md.

#include "agent/core/impl.h"

namespace lockstep::agent {

using Stage = Part::Stage;

namespace {

// What the runner knows of its lease lags behind by at most this part of it.
constexpr int kRenewals = 16;

bool holds_lease(const Part& part) { return part.assignment.lease > Duration::zero(); }

}  // namespace

bool Core::Impl::has_lease(const Part& part) const {
  return !holds_lease(part) || now < part.lease_until;
}

// An answer tells what the launcher wanted when it heard that heartbeat. Unless that is what is
// applied here, it may have given up parts that are still here.
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

// Its runner does the same by itself a moment later, should nobody be left here to do it.
void Core::Impl::end_lease(Part& part) {
  part.killed = Part::Killed::lease_over;
  part.kill_at = now + kInsistEvery;
  out.push_back(KillRunner{part.assignment.attempt});
}

}  // namespace lockstep::agent
