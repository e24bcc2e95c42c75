#pragma once
// Decides when a retry may start: after its back-off, and after the fences of parts that were given
// up and may still run.
//
// The ranks of an attempt with a lease (on_lost: after_fence) run on a node until `lease` after the
// node sent a heartbeat: the newest one acknowledged with a desired state that contains the part.
// The launcher received that heartbeat after it was sent, and never assigns again a part that it
// gave up. So the time `lease` after the launcher last heard the node is later than the end of the
// ranks. See docs/decisions/009-retry.md.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Puts the job into the queue if its back-off and fences are over and its start time has come;
// otherwise sets a timer for that. Does nothing while it waits for other jobs: see dependencies.h.
void enqueue(Context& core, const Job& job);
// Tells that the job begins or ceases to wait for nodes: the number of machines of an elastic
// target depends on that.
void demand_changed(Context& core, const Job& job);
void dequeue(Scheduler& scheduler, Timers& retries, const Job& job);

// The time until which the ranks of a part may run that is given up now without proof of its end.
// ns = 0: they do not run, or the job does not wait for their end.
Instant fence_of(const Cluster& cluster, const Attempt& attempt, const Part& part);
void lift_fence(Context& core, const AttemptId& attempt, NodeId node, const Why& why);
void lift_fences(Context& core, NodeId node, const SessionOpen& open, bool is_late);

}  // namespace lockstep::launcher
