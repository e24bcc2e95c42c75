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
    // of facts
    submitted,
    cancel_requested,
    updated,  // its priority
    step,     // of a pipeline: submitted, reused or not run
    placed,
    preparing,    // the first node has begun
    prepared,     // all nodes are ready
    connecting,   // several nodes: each gets the addresses of the others
    running,      // on all nodes, connected
    part_gone,    // a node or its runner is known to have stopped
    failed,       // the first failure; the others are stopped
    ranks_ended,  // all ranks have ended; outputs may still be collected
    collected,    // a node sent the outputs of its ranks
    ended,        // the attempt
    requeued,
    finished,
    written,     // an output, to a remote datastore; or it was given up
    logs_lost,   // given up
    found,       // about the ranks
    hang,        // the same, as an alarm
    found_over,  // it does not hold any more
    // of Notes
    waits,
    node_unknown,
    node_heard,
    logs_wait,
    logs_go_on,
    lock_refused,  // or a question for one, from a node
    limit_reached,
    not_kept,  // an output folder of which nothing can be kept, or newer versions while it runs
    signaled,  // ranks, by their owner
  };
  Instant at;
  Kind kind = Kind::submitted;
  std::uint32_t attempt = 0;  // 0: none
  NodeId node;                // 0: no particular node
  Why why = {};               // none: what it says follows from the job
  friend bool operator==(const Event&, const Event&) = default;
};
std::string_view to_string(Event::Kind kind);  // "Submitted", "CancelRequested", …

// Events in order of time. Bounded: keeps the first kFirstEvents and the newest.
struct EventList {
  std::vector<Event> events;
  std::uint64_t left_out = 0;  // events dropped after the first kFirstEvents

  void add(Event event);
  std::uint64_t count() const { return events.size() + left_out; }  // since the beginning
  friend bool operator==(const EventList&, const EventList&) = default;
};
inline constexpr std::size_t kFirstEvents = 20;
inline constexpr std::size_t kMaxEvents = 200;

}  // namespace lockstep::launcher
