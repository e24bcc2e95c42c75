#pragma once
// When a retry may start: back-off, and what may still run of an attempt that was given up.
//
// An attempt with a lease (on_lost: after_fence) runs on a node only until `lease` after the node
// sent the newest heartbeat that was acknowledged with a desired state that wants it there. The
// launcher receives that heartbeat after it was sent, and never wants a part again that it gave up;
// so `lease` after it last heard the node, on its own clock, is a later time.
// docs/decisions/009-retry.md.

#include "launcher/core/context.h"

namespace lockstep::launcher {

// Queues the job now, or when its back-off and fences have ended.
void enqueue(Context& core, const Job& job);
void dequeue(Scheduler& scheduler, Timers& retries, const Job& job);

// Until when a part that is given up now may still run if its end is not proven; ns = 0: it cannot.
Instant fence_of(const Cluster& cluster, const Attempt& attempt, const Part& part);
void lift_fence(Context& core, const AttemptId& attempt, NodeId node, const std::string& why);
void lift_fences(Context& core, NodeId node, const SessionOpen& open, bool is_late);

}  // namespace lockstep::launcher
