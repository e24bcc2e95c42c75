#pragma once
// When a retry may start: back-off, and what may still run of an attempt that was given up.
//
// An attempt with a lease (on_lost: after_fence) runs on a node only until `lease` after the node
// sent the newest heartbeat that was acknowledged with a desired state that wants it there. The
// launcher heard that heartbeat after it was sent, and wants no part again that it gave up; so
// `lease` after it last heard the node, counted here, is later. docs/decisions/009-retry.md.

#include "launcher/core/context.h"

namespace lockstep::launcher {

// At once, or when its back-off and fences are over.
void enqueue(Context& core, const Job& job);
void dequeue(Scheduler& scheduler, Timers& retries, const Job& job);

// Until when a part that is given up now, without proof of its end, may run; ns = 0: it does not.
Instant fence_of(const Cluster& cluster, const Attempt& attempt, const Part& part);
void lift_fence(Context& core, const AttemptId& attempt, NodeId node, const std::string& why);
void lift_fences(Context& core, NodeId node, const SessionOpen& open, bool is_late);

}  // namespace lockstep::launcher
