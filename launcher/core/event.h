#pragma once
// The events of a job, for `lockstep job events`. They have two sources. State records an event for
// a fact as it applies the fact, so it survives restarts; a job's list is bounded, and details that
// the job has elsewhere are not repeated. Reactions record everything else (why it waits, a silent
// node, outstanding logs) in Notes, in memory, which a restart of the launcher loses. Never an
// input to a decision.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/views.h"

namespace lockstep::launcher {

struct Event {
  enum class Kind {
    // of facts
    submitted,
    cancel_requested,
    placed,
    preparing,    // the first node has begun
    prepared,     // all nodes are ready
    connecting,   // several nodes: each is told the others
    running,      // on all nodes, connected
    part_gone,    // a node or its runner is known to run no more
    failed,       // the first failure; the others are stopped
    ranks_ended,  // nothing runs any more; outputs may still be collected
    collected,    // a node sent what its ranks left
    ended,        // the attempt
    requeued,
    finished,
    // of Notes
    waits,
    node_unknown,
    node_heard,
    logs_wait,
    logs_go_on,
    lock_refused,  // of a node that was not asked to solve
    limit_reached,
  };
  Instant at;
  Kind kind = Kind::submitted;
  std::uint32_t attempt = 0;  // 0: none
  NodeId node;                // 0: no one node
  std::string text;
  friend bool operator==(const Event&, const Event&) = default;
};
std::string_view to_string(Event::Kind kind);  // "Submitted", "CancelRequested", …

// In order of time, bounded: the first few and the newest are kept.
struct EventList {
  std::vector<Event> events;
  std::uint64_t left_out = 0;  // behind the first kFirstEvents

  void add(Event event);
  std::uint64_t count() const { return events.size() + left_out; }  // since the beginning
  friend bool operator==(const EventList&, const EventList&) = default;
};
inline constexpr std::size_t kFirstEvents = 20;
inline constexpr std::size_t kMaxEvents = 200;

// The notes of all jobs, the oldest of which make room for new ones.
class Notes {
 public:
  struct Note {
    Event event;
    std::uint64_t behind = 0;  // so many events of the job's list
  };
  void add(const JobId& job, Note note);
  const std::vector<Note>* of(const JobId& job) const;

 private:
  std::map<JobId, std::vector<Note>> notes_;
  std::deque<JobId> order_;
};
inline constexpr std::size_t kMaxNotes = 20'000;
inline constexpr std::size_t kMaxNotesPerJob = 100;

struct Job;
class State;

// Both, in order, as people read them; those at `since` or later.
std::vector<JobEvent> events_of(const State& state, const Job& job, const Notes& notes,
                                Instant since);

}  // namespace lockstep::launcher
