#include "launcher/core/reactor.h"

#include <algorithm>
#include <utility>

#include "launcher/core/environments.h"
#include "launcher/core/retry.h"

namespace lockstep::launcher {

Reactor::Reactor(CoreConfig config)
    : config_(std::move(config)), clock_(config_.heartbeat_interval) {}

Step Reactor::handle(Instant now, const Input& input) {
  clock_.advance(now);
  now_ = clock_.last();
  step_ = Step{};
  if (std::exchange(recovering_, false)) finish_cut_step();
  std::visit([this](const auto& body) { on(body); }, input);
  while (auto timer = timers_.pop_due(clock_.polled())) fire(*timer);
  while (auto timer = retries_.pop_due(now_)) fire(*timer);
  settle();
  retain();
  continue_shutdown();
  send_messages();
  return std::exchange(step_, Step{});
}

void Reactor::recovered(Instant now) {
  clock_.advance(now);
  now_ = clock_.last();
  if (!state_.nodes().empty()) grace_until_ = clock_.polled() + config_.reconnect_grace;
  for (const auto& [id, node] : state_.nodes()) {
    NodeWatch& watch = watches_.at(id);
    watch.heard = clock_.polled();
    watch.liveness = node.lost ? Liveness::lost : Liveness::unknown;
    if (!node.lost) arm_node_timer(id);
  }
  if (!state_.nodes().empty()) recovered_at_ = now_;
  for (const auto& [order, job] : state_.queue()) enqueue(*state_.job(job));
  recovering_ = retains_ = true;
  dirty_jobs_ = state_.unfinished();
  for (const JobId& id : state_.unfinished()) {
    const Attempt* attempt = state_.job(id)->last_attempt();
    if (attempt == nullptr || attempt->ended) continue;
    timers_.set({TimerKey::Kind::prepare, {}, attempt->id},
                clock_.polled() + config_.time_to_prepare(state_.job(id)->spec));
  }
}

// The journal may end between two facts of one step. Most of what is missing follows from the rules
// (every job is dirty now); that a lost node's parts are fenced is made good here.
void Reactor::finish_cut_step() {
  for (const auto& [id, node] : state_.nodes())
    if (node.lost) fence(id, *node.lost);
  fence_unknown_to_nodes();
}

// What was placed so shortly before the backup was taken that no node had said a word of it may
// have run and ended since: it does not run again under the same name.
void Reactor::fence_unknown_to_nodes() {
  const auto restored = state_.restored_at();
  if (!restored) return;
  for (const JobId& id : std::set<JobId>(state_.unfinished())) {
    const Attempt* attempt = state_.job(id)->last_attempt();
    if (attempt == nullptr || attempt->ended || attempt->placed > *restored) continue;
    for (const Part& part : attempt->parts)
      if (part.assigned() && !part.report)
        emit(PartGone{attempt->id, part.node, Cause::node_lost,
                      "it was placed just before the backup was taken that the launcher was "
                      "restored from"});
  }
}

std::vector<Action> Reactor::resume() const {
  std::vector<Action> actions;
  for (const auto& [id, node] : state_.removed_nodes()) actions.push_back(RevokeNode{node.key});
  for (const auto& [id, node] : state_.nodes()) {
    actions.push_back(AllowNode{id, node.key});
    for (const auto& [attempt, rank] : node.parts) {
      const Attempt& whole = *state_.attempt(attempt);
      const Part& part = whole.parts[static_cast<std::size_t>(rank)];
      if (whole.ended && part.finished())
        actions.push_back(AwaitLogs{attempt, id, part.report->exit->logs});
    }
  }
  return actions;
}

Instant Reactor::next_deadline() const {
  if (recovering_ || retains_ || !dirty_jobs_.empty() || scheduler_.dirty()) return clock_.last();
  const Instant due = timers_.next();
  const Instant later = std::min(retries_.next(), retain_at_);
  if (due == Instant::never()) return later;
  // Clocks that run count only polled time: be called at least once an interval.
  return std::min({clock_.real(due), clock_.next_poll(), later});
}

void Reactor::emit(Fact fact) {
  state_.apply(now_, fact);
  note(fact);
  step_.facts.push_back(std::move(fact));
}

void Reactor::note(const Fact& fact) {
  const JobId* job_id = job_of(fact);
  retains_ = retains_ || std::holds_alternative<JobFinished>(fact) ||
             std::holds_alternative<TokenCreated>(fact);
  if (const auto* locked = std::get_if<EnvironmentLocked>(&fact))
    return touch_environment(locked->definition);
  if (const auto* reset = std::get_if<EnvironmentReset>(&fact))
    return touch_environment(reset->definition);
  if (std::holds_alternative<EnvironmentRegistered>(fact)) return;
  if (std::holds_alternative<EnvironmentsPruned>(fact)) {
    for (const auto& [id, node] : state_.nodes()) touched_nodes_.insert(id);
    return;
  }
  if (job_id == nullptr) {
    const bool token =
        std::holds_alternative<TokenCreated>(fact) || std::holds_alternative<TokenForgotten>(fact);
    if (!token) scheduler_.topology_changed();
    return;
  }
  job_changed(*job_id);
  if (std::holds_alternative<JobDeleted>(fact)) return;
  dirty_jobs_.insert(*job_id);
  const Job& job = *state_.job(*job_id);
  if (has_asked(job)) touch_environment(*job.environment);
  const bool all_nodes = std::holds_alternative<CancelRequested>(fact) ||
                         std::holds_alternative<AttemptPlaced>(fact) ||
                         std::holds_alternative<GangFormed>(fact) ||
                         std::holds_alternative<AttemptDoomed>(fact);
  if (all_nodes && !job.attempts.empty()) touch(job.attempts.back());
  if (std::holds_alternative<JobSubmitted>(fact) || std::holds_alternative<JobRequeued>(fact))
    enqueue(job);
  if (std::holds_alternative<FenceLifted>(fact) &&
      retries_.is_set({TimerKey::Kind::retry, {}, {job.id, 0}}))
    enqueue(job);
  if (std::holds_alternative<CancelRequested>(fact)) dequeue(job);
  if (std::holds_alternative<JobFinished>(fact)) canceled_late_.erase(job.id);
  if (const auto* placed = std::get_if<AttemptPlaced>(&fact)) {
    scheduler_.remove(job);
    timers_.set({TimerKey::Kind::prepare, {}, placed->attempt},
                clock_.polled() + config_.time_to_prepare(job.spec));
  }
  if (const auto* ended = std::get_if<AttemptEnded>(&fact))
    timers_.clear({TimerKey::Kind::prepare, {}, ended->attempt});
  if (const auto* changed = std::get_if<PartChanged>(&fact)) {
    watches_.at(changed->node).progress.erase(changed->attempt);
    const bool finished = changed->report.state == PartState::finished;
    if (finished) watches_.at(changed->node).logs_so_far.erase(changed->attempt);
    if (finished) scheduler_.capacity_changed();
    const auto& exit = changed->report.exit;
    if (exit && exit->cause == Cause::account_missing) scheduler_.topology_changed();
  }
  if (const auto* gone = std::get_if<PartGone>(&fact)) {
    touched_nodes_.insert(gone->node);
    watches_.at(gone->node).logs_so_far.erase(gone->attempt);
    watches_.at(gone->node).logs_refused.erase(gone->attempt);
    scheduler_.capacity_changed();
  }
  if (const auto* released = std::get_if<PartReleased>(&fact)) {
    touched_nodes_.insert(released->node);
    timers_.clear({TimerKey::Kind::logs, released->node, released->attempt});
    watches_.at(released->node).logs_refused.erase(released->attempt);
  }
}

void Reactor::touch_environment(const Digest& definition) {
  const Environment* environment = state_.environment(definition);
  if (environment == nullptr) return;
  for (const std::uint64_t order : environment->live) {
    const Job& job = *state_.job(state_.submitted().at(order));
    if (job.phase == Job::Phase::placed) touch(job.attempts.back());
  }
}

void Reactor::touch(const Attempt& attempt) {
  for (const Part& part : attempt.parts) touched_nodes_.insert(part.node);
}

void Reactor::refuse(const ReplyTo& to, ErrorCode code, std::string message) {
  act(ReplyRefused{to, code, std::move(message)});
}

void Reactor::settle() {
  while (!dirty_jobs_.empty() || scheduler_.dirty()) {
    while (!dirty_jobs_.empty()) {
      const JobId job = *dirty_jobs_.begin();
      dirty_jobs_.erase(dirty_jobs_.begin());
      advance(job);
    }
    schedule();
  }
}

void Reactor::schedule() {
  Scheduler::Moves moves;
  moves.place = [this](const Job& job, Placed placed) {
    const AttemptId id{job.id, static_cast<std::uint32_t>(job.attempts.size() + 1),
                       std::max(job.era, state_.era())};
    auto virtual_packages = virtual_packages_of(state_, job, placed.parts);
    emit(AttemptPlaced{id, std::move(placed.parts), std::move(placed.why), newest_checkpoint(job),
                       std::move(virtual_packages)});
  };
  moves.waits = [this](const Job& job) {
    job_changed(job.id);
    note_wait(job);
  };
  scheduler_.run(cluster(), moves);
}

void Reactor::note(const JobId& job, Event event) {
  notes_.add(job, {std::move(event), state_.job(job)->events.count()});
}

void Reactor::note_wait(const Job& job) {
  std::string reason = scheduler_.reason(state_, job);
  const auto* notes = notes_.of(job.id);
  const bool said = notes != nullptr && notes->back().event.kind == Event::Kind::waits &&
                    notes->back().event.text == reason &&
                    notes->back().behind == job.events.count();
  if (!said) note(job.id, {now_, Event::Kind::waits, 0, {}, std::move(reason)});
}

// For every attempt that may still run there.
void Reactor::note_attempts(NodeId id, Event::Kind kind, const std::string& text) {
  for (const auto& [attempt, rank] : state_.node(id)->parts)
    if (!state_.attempt(attempt)->ended) note(attempt.job, {now_, kind, attempt.number, id, text});
}

void Reactor::send_messages() {
  for (NodeId id : std::exchange(touched_nodes_, {})) {
    const Node* node = state_.node(id);
    NodeWatch& watch = watches_.at(id);
    if (!watch.live || watch.sent_revision == node->revision) continue;
    watch.sent_revision = node->revision;
    act(SendDesired{id});
  }
  for (const JobId& job : std::exchange(changed_jobs_, {})) act(JobChanged{job});
}

void Reactor::fire(const TimerKey& timer) {
  switch (timer.kind) {
    case TimerKey::Kind::node: node_silent(timer.node); break;
    case TimerKey::Kind::prepare: prepare_timed_out(timer.attempt); break;
    case TimerKey::Kind::logs: logs_timed_out(timer.attempt, timer.node); break;
    case TimerKey::Kind::shutdown: give_up_shutdown(); break;
    case TimerKey::Kind::retry: enqueue(*state_.job(timer.attempt.job)); break;
  }
}

}  // namespace lockstep::launcher
