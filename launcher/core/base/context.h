#pragma once
// The working memory of the core, and the three things that a reaction does: emit() records a fact,
// act() adds an action for the shell, refuse() answers a request with an error. Reactions are
// functions (jobs/requests.h, agents.h, progress.h, …) over a Context or over some of its members.
//
// Only emit() and replay() change `state`. All other members start empty in each launcher process.
// effects.cc updates them for each fact, so that no reaction has to.

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launcher/core/base/cluster.h"
#include "launcher/core/base/compute_checks.h"
#include "launcher/core/base/config.h"
#include "launcher/core/base/step.h"
#include "launcher/core/memory/endings.h"
#include "launcher/core/memory/liveness.h"
#include "launcher/core/memory/machine_calls.h"
#include "launcher/core/memory/machine_samples.h"
#include "launcher/core/memory/notes.h"
#include "launcher/core/memory/timers.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

class Scheduler;  // queue/scheduler.h

// The jobs and nodes that the current step must still process, or send updates for.
struct Pending {
  std::set<JobId> dirty_jobs;    // jobs for which the rules must run
  std::set<JobId> changed_jobs;  // jobs whose watchers may need an update
  std::set<NodeId> touched_nodes;
  std::set<EnvironmentId> touched_environments;  // environments whose solver may have changed
  std::set<std::string> dirty_targets;           // targets for which the machine rules must run

  void job_changed(const JobId& job) { changed_jobs.insert(job); }
  void touch(const Attempt& attempt);  // the desired states of the attempt's nodes may have changed
};

struct Context {
  // Updates everything else after emit() applied a fact: see effects.h.
  using Follow = void (*)(Context& core, const Fact& fact);

 private:
  State memory_;
  const Follow follow_;

 public:
  // The scheduler works on the state of this context, so it is made after the context.
  Context(CoreConfig settings, Follow follow, Scheduler& of_this);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void emit(Fact fact);
  void act(Action action) { step.actions.push_back(std::move(action)); }
  void refuse(const ReplyTo& to, ErrorCode code, std::string message);
  void replay(const StampedFact& fact) { memory_.apply(fact.at, fact.fact); }
  Cluster cluster() const {
    return {state, watches, config, now, recovered_at, &samples, nullptr, &machines};
  }
  void record(const JobId& job, Event event);

  struct Retaining {
    bool is_due = false;  // check the retention limits in this step
    // The next time to check them, in calendar time, which includes stalls.
    Instant at = Instant::never();
  };

  const CoreConfig config;
  const State& state = memory_;
  NodeWatches watches;
  Notes notes;
  Scheduler& scheduler;
  Timers timers;  // in polled time
  // The retries of waiting jobs, in real time: stalls of the launcher do not make a job wait
  // longer.
  Timers retries;
  PolledClock clock;
  Instant now;                         // the real time of this step, for facts
  Instant recovered_at;                // ns = 0: the journal was empty
  std::optional<Instant> grace_until;  // in polled time; until then no node becomes LOST
  // A shutdown waits for unfinished jobs; these requests get its answer.
  std::optional<std::vector<ReplyTo>> stopping;
  Endings endings;
  bool recovering = false;  // the next step is the first one after recovered()
  Retaining retention;
  MachineCalls machines;
  MachineSamples samples;
  ComputeChecks checks;
  Pending pending;
  Step step;
};

// Records the event for every attempt that may still run on the node.
void record_attempts(Context& core, NodeId node, Event::Kind kind, const Why& why);

}  // namespace lockstep::launcher
