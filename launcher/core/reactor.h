#pragma once
// The core at work: one reaction per kind of input. It decides, records what it decided as facts
// (emit, which applies them to State), and says what to do (act). Behind Core; its parts are
//   reactor.cc    the step: input, timers due, what follows from them, messages
//   clients.cc    submit, cancel, drain, tokens, joins, shutdown
//   agents.cc     sessions, heartbeats, observed parts, liveness
//   progress.cc   the life of a job: from placed to final, rule by rule
//   retention.cc  what is forgotten: jobs that are deleted, tokens of no use
//   environments.cc  what is solved, by whom; registered definitions
//   fences.cc     what may still run of attempts that were given up; when a retry may start
// What follows from the state is decided by rules over the state (advance), not by the input that
// led there: a journal cut between two facts continues as if nothing had happened.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/core/core.h"
#include "launcher/core/liveness.h"
#include "launcher/core/scheduler.h"
#include "launcher/core/state.h"
#include "launcher/core/timers.h"

namespace lockstep::launcher {

class Reactor {
 public:
  explicit Reactor(CoreConfig config);

  Step handle(Instant now, const Input& input);
  void replay(const StampedFact& fact) { state_.apply(fact.at, fact.fact); }
  void recovered(Instant now);
  std::vector<Action> resume() const;
  Instant next_deadline() const;

  const State& state() const { return state_; }
  const NodeWatches& watches() const { return watches_; }
  const Scheduler& scheduler() const { return scheduler_; }
  const CoreConfig& config() const { return config_; }
  const Notes& notes() const { return notes_; }
  Cluster cluster() const { return {state_, watches_, config_, now_, recovered_at_}; }

 private:
  // ---- reactor.cc
  void emit(Fact fact);
  void note(const Fact& fact);  // what a fact means for timers, queue and messages
  template <typename Doing>
  void act(Doing action) {
    step_.actions.push_back(std::move(action));
  }
  void refuse(const ReplyTo& to, ErrorCode code, std::string message);
  void finish_cut_step();
  void fence_unknown_to_nodes();
  void settle();  // advance jobs and schedule until nothing follows
  void schedule();
  void send_messages();
  void fire(const TimerKey& timer);
  void touch_environment(const Digest& definition);  // those of all that have it
  void touch(const Attempt& attempt);                // its nodes' desired state may have changed
  void job_changed(const JobId& job) { changed_jobs_.insert(job); }
  void note(const JobId& job, Event event);
  void note_wait(const Job& job);
  void note_attempts(NodeId node, Event::Kind kind, const std::string& text);

  // ---- clients.cc
  void on(const SubmitInput& input);
  void on(const CancelInput& input);
  void on(const DeleteInput& input);
  void on(const DrainInput& input);
  void on(const RemoveNodeInput& input);
  void on(const TokenInput& input);
  void on(const JoinInput& input);
  void on(const ShutdownInput& input);
  void on(const TickInput&) {}
  std::optional<Error> refusal(const SubmitInput& input, const JobSpec& spec) const;
  std::string free_node_name(const std::string& wanted) const;
  void cancel(const JobId& job, const std::string& by);
  void continue_shutdown();
  void give_up_shutdown();

  // ---- agents.cc
  void on(const SessionInput& input);
  void on(const HeartbeatInput& input);
  void on(const ObservedInput& input);
  const Node* known_speaker(const PublicKey& key, NodeId claimed, SessionId session);
  void refuse_both(const Node& node, const PublicKey& key, SessionId stale);
  void accept_session(const Node& node, const SessionOpen& open);
  void take_leftovers(NodeId node, const SessionOpen& open);
  void ask_of_leftovers(NodeId node, const PublicKey& key);
  void compare_parts(const Node& node, const SessionOpen& open);
  // `newest`: the node said nothing later; else what it says in words only is passed over.
  void take_report(NodeId node, const PartReport& report, bool newest);
  void take_words(NodeId node, const PartReport& report);
  void take_outputs(NodeWatch& watch, const PartReport& report);
  void take_checkpoint(NodeId node, const PartReport& report);
  void heard(NodeId node);
  void node_came_back(NodeId node);
  void arm_node_timer(NodeId node);
  void node_silent(NodeId node);  // its timer fired
  void lose(NodeId node, const std::string& reason);
  void fence(NodeId node, const std::string& reason);

  // ---- environments.cc
  void take_environment(NodeId node, const PartReport& report);
  void on(const CreateEnvironmentInput& input);
  void on(const PruneEnvironmentsInput& input);
  void rebuild_environment(const JobId& job, const std::string& by);

  // ---- retention.cc
  std::optional<Error> not_deletable(const JobId& job) const;
  void delete_job(const JobId& job, const std::string& by, std::string why);
  void retain();  // deletes what is beyond the limits, and arms the timer of what will be
  bool over_limits() const;
  std::string why_beyond() const;
  Instant next_deletion() const;
  std::uint64_t era_of_new(const JobId& job) const;

  // ---- fences.cc
  void enqueue(const Job& job);  // at once, or when its back-off and fences are over
  void dequeue(const Job& job);
  Instant fence_of(const Attempt& attempt, const Part& part) const;
  void lift_fence(const AttemptId& attempt, NodeId node, const std::string& why);
  void lift_fences(NodeId node, const SessionOpen& open, bool is_late);

  // ---- progress.cc
  void advance(const JobId& job);
  void advance_attempt(const Job& job, const Attempt& attempt);
  void end_attempt(const Job& job, const Attempt& attempt);
  void conclude(const Job& job);
  void form_gang(const Attempt& attempt);
  bool any_node_unknown(const Attempt& attempt) const;
  void collect_logs(const Attempt& attempt);
  void on(const LogsDurableInput& input);
  void on(const LogsRefusedInput& input);
  void prepare_timed_out(const AttemptId& attempt);
  bool is_canceled(const Job& job) const;
  void logs_timed_out(const AttemptId& attempt, NodeId node);

  CoreConfig config_;
  State state_;
  NodeWatches watches_;
  Notes notes_;
  Scheduler scheduler_;
  Timers timers_;
  Timers retries_;  // of waiting jobs, in real time: a stall of ours makes nobody wait longer
  PolledClock clock_;
  Instant now_;                                   // real time of this step, for facts
  Instant recovered_at_;                          // ns = 0: the journal was empty
  std::optional<Instant> grace_until_;            // polled: nothing becomes LOST before
  std::optional<std::vector<ReplyTo>> stopping_;  // a shutdown waits for its jobs
  // How these end is known; somebody canceled them while their logs were awaited.
  std::set<JobId> canceled_late_;

  bool recovering_ = false;               // the next step is the first since recovered()
  bool retains_ = false;                  // what is kept has to be looked at,
  Instant retain_at_ = Instant::never();  // and then again: calendar time, stalls included

  // Within one step.
  Step step_;
  std::set<JobId> dirty_jobs_;    // rules may apply to them
  std::set<JobId> changed_jobs_;  // someone may watch them
  std::set<NodeId> touched_nodes_;
};

}  // namespace lockstep::launcher
