#pragma once
// The events of a job, for people (`lockstep job events`). They have two sources. State records an
// event as it applies a fact, so that these events survive restarts; the list of a job is bounded,
// and does not repeat data that the job already holds (a placement's reasons, a report). Reactions
// record the others in Notes (core/memory/notes.h). Events are never an input to a decision.

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

struct Event {
  enum class Kind {
    // From facts:
    submitted,
    cancel_requested,
    updated,  // the job's priority changed
    step,     // for a pipeline: the step was submitted, reused or not run
    placed,
    preparing,    // the first node has begun to prepare
    prepared,     // all nodes are ready
    connecting,   // several nodes: each gets the addresses of the others
    running,      // on all nodes, connected
    part_gone,    // a node or its runner is known to have stopped
    failed,       // the first failure; the others are stopped
    ranks_ended,  // all ranks have ended; outputs may still be collected
    collected,    // a node sent the outputs of its ranks
    ended,        // the attempt ended
    requeued,
    finished,
    written,     // an output was written to a remote datastore, or given up
    logs_lost,   // logs were given up
    found,       // a finding about the ranks
    hang,        // a finding that is an alarm
    found_over,  // a finding no longer holds
    // From Notes:
    waits,
    node_unknown,
    node_heard,
    logs_wait,
    logs_go_on,
    lock_refused,  // a lock, or a request for one, from a node was refused
    limit_reached,
    not_kept,  // an output folder cannot be kept, or its newer versions cannot while it runs
    signaled,  // the job's owner sent ranks a signal
  };
  Instant at;
  Kind kind = Kind::submitted;
  std::uint32_t attempt = 0;  // the attempt's number; 0: none
  NodeId node;                // 0: the event concerns no particular node
  Why why = {};               // none: the job's data have the reason
  friend bool operator==(const Event&, const Event&) = default;
};
std::string_view to_string(Event::Kind kind);  // "Submitted", "CancelRequested", …

// Events in the order of time. Keeps the first kFirstEvents and the newest; the number of both is
// bounded.
struct EventList {
  std::vector<Event> events;
  std::uint64_t left_out = 0;  // events dropped after the first kFirstEvents

  void add(Event event);
  // The number of all events, dropped ones included.
  std::uint64_t count() const { return events.size() + left_out; }
  friend bool operator==(const EventList&, const EventList&) = default;
};
inline constexpr std::size_t kFirstEvents = 20;
inline constexpr std::size_t kMaxEvents = 200;

}  // namespace lockstep::launcher
