#pragma once
// The parts of the core at work, and the three things that a reaction does with them: emit()
// records a fact, act() says what the shell shall do, refuse() answers a request with an error.
// Reactions are functions (clients.h, agents.h, progress.h, …) over this or over the parts that
// they name.
//
// `state` changes only by emit() and replay(). Everything else here starts empty with each
// launcher; effects.cc updates it after each fact, so that no reaction has to.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/core/config.h"
#include "launcher/core/core.h"
#include "launcher/core/liveness.h"
#include "launcher/core/placement.h"
#include "launcher/core/scheduler.h"
#include "launcher/core/state.h"
#include "launcher/core/timers.h"

namespace lockstep::launcher {

// What the current step must still process or send.
struct Pending {
  std::set<JobId> dirty_jobs;    // rules may apply to them
  std::set<JobId> changed_jobs;  // someone may watch them
  std::set<NodeId> touched_nodes;

  void job_changed(const JobId& job) { changed_jobs.insert(job); }
  void touch(const Attempt& attempt);  // its nodes' desired state may have changed
};

struct Context {
 private:
  State memory_;

 public:
  explicit Context(CoreConfig settings);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void emit(Fact fact);
  void act(Action action) { step.actions.push_back(std::move(action)); }
  void refuse(const ReplyTo& to, ErrorCode code, std::string message);
  void replay(const StampedFact& fact) { memory_.apply(fact.at, fact.fact); }
  Cluster cluster() const { return {state, watches, config, now, recovered_at}; }
  void record(const JobId& job, Event event);

  struct Retaining {
    bool is_due = false;            // what is kept has to be looked at,
    Instant at = Instant::never();  // and then again: calendar time, stalls included
  };

  const CoreConfig config;
  const State& state = memory_;
  NodeWatches watches;
  Notes notes;
  Scheduler scheduler;
  Timers timers;   // polled time
  Timers retries;  // of waiting jobs, in real time: a stall of ours makes nobody wait longer
  PolledClock clock;
  Instant now;                                   // real time of this step, for facts
  Instant recovered_at;                          // ns = 0: the journal was empty
  std::optional<Instant> grace_until;            // polled: nothing becomes LOST before
  std::optional<std::vector<ReplyTo>> stopping;  // a shutdown waits for its jobs
  // Jobs that were canceled while only their logs were outstanding: their result stays as it was.
  std::set<JobId> canceled_late;
  bool recovering = false;  // the next step is the first since recovered()
  Retaining retention;
  Pending pending;
  Step step;
};

// For every attempt that may still run there.
void record_attempts(Context& core, NodeId node, Event::Kind kind, const std::string& text);

}  // namespace lockstep::launcher
