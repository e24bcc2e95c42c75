// What nodes say, and what their silence means: sessions, heartbeats, observed parts, liveness.

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "launcher/core/reactor.h"
#include "launcher/core/sessions.h"

namespace lockstep::launcher {

namespace {

// A finished part must say how each of its ranks ended: "completed" is never taken on trust. When
// they started is not forgotten by whoever did not see it.
PartReport checked(PartReport report, const std::optional<PartReport>& known, const JobSpec& spec) {
  if (report.started.ns == 0 && known) report.started = known->started;
  if (report.started.ns == 0 && report.exit) report.started = report.exit->started;
  if (report.state != PartState::finished) return report;
  if (!report.exit) {
    report.exit.emplace();
    report.exit->cause = Cause::runner_lost;
    report.exit->message = "it left no final report";
    return report;
  }
  NodeExitReport& exit = *report.exit;
  const auto wanted = static_cast<std::size_t>(spec.distribution.processes_per_node);
  if (exit.cause == Cause::completed && exit.ranks.size() != wanted) {
    exit.cause = Cause::start_failed;
    exit.message = fmt::format("its final report has {} of {} ranks", exit.ranks.size(), wanted);
  }
  return report;
}

std::string told_removed(const RemovedNode& node) {
  return fmt::format(
      "node {} was removed from this launcher{} at {}; to let this machine join again, remove "
      "identity.json and keys in the agent's home (--home) and give it a new token (`lockstep node "
      "token`)",
      node.name, node.by.empty() ? "" : " by " + node.by, to_string(node.at));
}

// Where its words are not of its work but of its ranks' output, which cannot be written or sent.
bool runs(PartState state) { return state == PartState::running || state == PartState::stopping; }

bool is_new(const std::optional<PartReport>& known, const PartReport& report) {
  return !known || report.state > known->state;
}

}  // namespace

// The node that owns `key`, if it is the one that the message claims to be from.
const Node* Reactor::known_speaker(const PublicKey& key, NodeId claimed, SessionId session) {
  const Node* node = state_.node_with_key(key);
  if (node != nullptr && node->id == claimed) return node;
  if (const RemovedNode* removed = state_.removed_with_key(key)) {
    act(RefuseSession{key, session, told_removed(*removed), true});
    return nullptr;
  }
  act(RefuseSession{key, session,
                    node == nullptr
                        ? "this node's key is not known to the launcher; join it again with a "
                          "token (`lockstep node token`)"
                        : fmt::format("this key belongs to node {} (id {}), not to id {}; delete "
                                      "the agent's identity and join again with a token",
                                      node->name, node->id.value, claimed.value)});
  return nullptr;
}

void Reactor::refuse_both(const Node& node, const PublicKey& key, SessionId stale) {
  NodeWatch& watch = watches_.at(node.id);
  const std::optional<SessionId> live = watch.live;
  const std::string reason = refuse_clones(node, watch, stale);
  act(RefuseSession{key, stale, reason});
  if (live) act(RefuseSession{key, *live, reason});
  if (watch.liveness != Liveness::alive) return;
  watch.liveness = Liveness::unknown;
  arm_node_timer(node.id);
}

void Reactor::on(const SessionInput& input) {
  const SessionOpen& open = input.open;
  const Node* node = known_speaker(input.key, open.node, open.session);
  if (node == nullptr) return;
  NodeWatch& watch = watches_.at(node->id);
  switch (identify_open(*node, watch, open, clock_.polled(), config_.node_lost_timeout)) {
    case Speaker::refused:
      act(RefuseSession{input.key, open.session, watch.refused.at(open.session)});
      return;
    case Speaker::cloned: refuse_both(*node, input.key, open.session); return;
    case Speaker::stale: return;
    case Speaker::live:
      // A doubled or late copy: what it lacks may have begun after it was written.
      for (const PartReport& report : open.parts) take_report(node->id, report, false);
      if (watch.question != 0 && open.answers == watch.question) {
        watch.question = 0;
        take_leftovers(node->id, open);
        lift_fences(node->id, open, false);
        scheduler_.capacity_changed();
      }
      break;
    case Speaker::unknown: accept_session(*node, open); break;
  }
  act(AcceptSession{node->id, open.session, input.key});
  ask_of_leftovers(node->id, input.key);
  watch.sent_revision = node->revision;
  heard(node->id);
}

void Reactor::accept_session(const Node& node, const SessionOpen& open) {
  const bool known_session = node.session == open.session;
  compare_parts(node, open);
  lift_fences(node.id, open, known_session);
  const bool news = node.session != open.session || node.boot != open.boot || node.lost ||
                    !(node.inventory == open.inventory);
  if (news) emit(NodeSessionStarted{node.id, open.boot, open.session, open.inventory});
  NodeWatch& watch = watches_.at(node.id);
  watch.live = open.session;
  watch.words_of = 0;
  take_leftovers(node.id, open);
  const bool may_be_late = known_session && !watch.leftovers.empty();
  watch.question = may_be_late ? static_cast<std::uint64_t>(now_.ns) + 1 : 0;
}

void Reactor::take_leftovers(NodeId node, const SessionOpen& open) {
  std::set<AttemptId>& leftovers = watches_.at(node).leftovers;
  leftovers.clear();
  for (const PartReport& report : open.parts) {
    const bool runs = report.state != PartState::finished;
    if (runs && state_.assigned_part(report.attempt, node) == nullptr)
      leftovers.insert(report.attempt);
  }
}

void Reactor::ask_of_leftovers(NodeId node, const PublicKey& key) {
  NodeWatch& watch = watches_.at(node);
  if (watch.leftovers.empty()) watch.question = 0;
  if (watch.question != 0) act(AskForSession{key, *watch.live, watch.question});
}

// A full report, or a new boot, proves what does not run here, but nothing of a part that was
// assigned after it was written: that is simply sent again. Of a session that is known already any
// copy may be late, so its revision tells. A new session begins after all that its node ever said.
void Reactor::compare_parts(const Node& node, const SessionOpen& open) {
  std::set<AttemptId> listed;
  for (const PartReport& report : open.parts) {
    listed.insert(report.attempt);
    const bool rebooted = node.session && node.boot != open.boot;
    // Of what ran when the node went down its word is old; of what had ended it is not.
    if (!rebooted || report.state >= PartState::collecting) take_report(node.id, report, true);
  }
  const bool rebooted = node.session && node.boot != open.boot;
  const bool known_session = node.session == open.session;
  const std::map<AttemptId, int> parts = node.parts;
  for (const auto& [id, rank] : parts) {
    const Part* part = state_.assigned_part(id, node.id);
    if (part == nullptr) continue;
    const bool later = known_session && part->revision > open.desired_revision;
    const bool absent = !later && listed.count(id) == 0;
    if (part->finished()) {
      // Its directory is gone, so no more of its logs can come.
      if (absent) emit(PartReleased{id, node.id, true});
    } else if (rebooted && (absent || !part->at_least(PartState::collecting))) {
      emit(PartGone{id, node.id, Cause::node_lost, "it was rebooted"});
    } else if (part->report && absent) {
      emit(PartGone{id, node.id, Cause::runner_lost, "the node's full report lacks it"});
    }
  }
}

void Reactor::on(const HeartbeatInput& input) {
  const Heartbeat& beat = input.beat;
  const Node* node = known_speaker(input.key, beat.node, beat.session);
  if (node == nullptr) return;
  NodeWatch& watch = watches_.at(node->id);
  switch (identify(*node, watch, beat.session, clock_.polled(), config_.node_lost_timeout)) {
    case Speaker::refused:
      act(RefuseSession{input.key, beat.session, watch.refused.at(beat.session)});
      return;
    case Speaker::cloned: refuse_both(*node, input.key, beat.session); return;
    case Speaker::stale: return;
    case Speaker::unknown: act(AskForSession{input.key, beat.session}); return;
    case Speaker::live: break;
  }
  heard(node->id);
  act(AckHeartbeat{node->id, beat.session, beat.number, node->revision});
  ask_of_leftovers(node->id, input.key);
  watch.sent_revision = beat.desired_revision;
  if (watch.low_disk != beat.low_disk) {
    watch.low_disk = beat.low_disk;
    scheduler_.capacity_changed();
  }
  touched_nodes_.insert(node->id);
}

void Reactor::on(const ObservedInput& input) {
  const Observed& observed = input.observed;
  const Node* node = known_speaker(input.key, observed.node, observed.session);
  if (node == nullptr) return;
  NodeWatch& watch = watches_.at(node->id);
  switch (identify(*node, watch, observed.session, clock_.polled(), config_.node_lost_timeout)) {
    case Speaker::refused:
      act(RefuseSession{input.key, observed.session, watch.refused.at(observed.session)});
      return;
    case Speaker::cloned: refuse_both(*node, input.key, observed.session); return;
    case Speaker::stale: return;
    case Speaker::unknown: act(AskForSession{input.key, observed.session}); return;
    case Speaker::live: break;
  }
  heard(node->id);
  const bool newest = observed.sequence >= watch.words_of;
  if (newest) watch.words_of = observed.sequence;
  for (const PartReport& report : observed.parts) take_report(node->id, report, newest);
  for (const AttemptId& attempt : observed.removed) {
    if (watch.leftovers.erase(attempt) != 0) scheduler_.capacity_changed();
    lift_fence(attempt, node->id, "the node removed it");
  }
  act(AckObserved{node->id, observed.session, observed.sequence});
}

void Reactor::take_report(NodeId node, const PartReport& report, bool newest) {
  NodeWatch& watch = watches_.at(node);
  const Part* part = state_.assigned_part(report.attempt, node);
  if (part == nullptr) {
    const bool ended = report.state == PartState::finished;
    if (ended && watch.leftovers.erase(report.attempt) != 0) scheduler_.capacity_changed();
    if (ended) lift_fence(report.attempt, node, "the node says that it ended");
    return;
  }
  if (is_new(part->report, report)) {
    const JobSpec& spec = state_.job(report.attempt.job)->spec;
    emit(PartChanged{report.attempt, node, checked(report, part->report, spec)});
    if (report.state == PartState::finished) return;
    take_outputs(watches_.at(node), report);
    take_checkpoint(node, report);
    take_environment(node, report);
  } else if (report.state < PartState::finished && part->report->state == report.state) {
    if (newest) take_words(node, report);
    take_checkpoint(node, report);
    take_environment(node, report);
  }
}

// Reports come late and twice: only a newer one counts.
void Reactor::take_checkpoint(NodeId node, const PartReport& report) {
  for (const CollectedOutput& output : report.outputs) {
    if (output.kind != OutputKind::checkpoint || !output.tree) continue;
    const Part* part = state_.assigned_part(report.attempt, node);
    const bool news = !part->saved || (output.order > part->saved->checkpoint.order &&
                                       output.tree != part->saved->checkpoint.tree);
    if (news) emit(CheckpointSaved{report.attempt, node, output});
  }
}

// What is for people only, and no fact.
void Reactor::take_outputs(NodeWatch& watch, const PartReport& report) {
  std::vector<CollectedOutput> fresh = report.outputs;
  std::erase_if(fresh, [](const auto& output) { return output.kind == OutputKind::checkpoint; });
  if (!fresh.empty()) {
    std::vector<CollectedOutput>& logs = watch.logs_so_far[report.attempt];
    if (logs != fresh) job_changed(report.attempt.job);
    logs = std::move(fresh);
  }
}

void Reactor::take_words(NodeId node, const PartReport& report) {
  NodeWatch& watch = watches_.at(node);
  take_outputs(watch, report);
  const auto known = watch.progress.find(report.attempt);
  const std::string before = known != watch.progress.end()
                                 ? known->second
                                 : state_.assigned_part(report.attempt, node)->report->progress;
  if (before == report.progress) return;
  watch.progress[report.attempt] = report.progress;
  job_changed(report.attempt.job);
  if (!runs(report.state)) return;
  const bool waits = !report.progress.empty();
  note(report.attempt.job,
       {now_, waits ? Event::Kind::logs_wait : Event::Kind::logs_go_on, report.attempt.number, node,
        waits ? report.progress : "the ranks go on"});
}

void Reactor::heard(NodeId node) {
  NodeWatch& watch = watches_.at(node);
  watch.heard = clock_.polled();
  const bool back = watch.liveness != Liveness::alive;
  // After a start of the launcher it only met them again.
  const bool was_silent = back && watch.last_heard.ns != 0;
  watch.last_heard = now_;
  watch.liveness = Liveness::alive;
  arm_node_timer(node);
  if (was_silent) note_attempts(node, Event::Kind::node_heard, "it is heard again");
  if (back) node_came_back(node);
}

// What waited for the node to be known again: placement, held verdicts, gangs, logs.
void Reactor::node_came_back(NodeId node) {
  scheduler_.capacity_changed();
  for (const auto& [id, rank] : state_.node(node)->parts) {
    dirty_jobs_.insert(id.job);
    if (state_.attempt(id)->ended)
      timers_.set({TimerKey::Kind::logs, node, id}, clock_.polled() + config_.logs_timeout);
  }
}

void Reactor::arm_node_timer(NodeId node) {
  const NodeWatch& watch = watches_.at(node);
  Instant due = watch.heard + config_.heartbeat_interval * config_.missed_heartbeats_unknown;
  if (watch.liveness == Liveness::unknown) {
    due = watch.heard + config_.node_lost_timeout;
    if (grace_until_) due = std::max(due, *grace_until_);
  }
  timers_.set({TimerKey::Kind::node, node, {}}, due);
}

void Reactor::node_silent(NodeId id) {
  NodeWatch& watch = watches_.at(id);
  switch (watch.liveness) {
    case Liveness::alive:
      watch.liveness = Liveness::unknown;
      arm_node_timer(id);
      note_attempts(id, Event::Kind::node_unknown,
                    "nothing was heard of it for " +
                        format_duration(clock_.polled() - watch.heard) + "; its ranks may go on");
      break;
    case Liveness::unknown:
      lose(id, "nothing was heard of it for " + format_duration(clock_.polled() - watch.heard));
      break;
    case Liveness::lost: break;
  }
}

void Reactor::lose(NodeId id, const std::string& reason) {
  fence(id, reason);
  emit(NodeLost{id, reason});
  NodeWatch& watch = watches_.at(id);
  watch.liveness = Liveness::lost;
  watch.live.reset();
  watch.progress.clear();
  watch.logs_so_far.clear();
  watch.logs_refused.clear();
}

// Whatever the node says of these parts from now on is refused.
void Reactor::fence(NodeId id, const std::string& reason) {
  const std::map<AttemptId, int> parts = state_.node(id)->parts;
  for (const auto& [attempt_id, rank] : parts) {
    const Attempt& attempt = *state_.attempt(attempt_id);
    const Part& part = attempt.parts[static_cast<std::size_t>(rank)];
    // A failure whose verdict was held while this node was UNKNOWN is this node's.
    const bool held = !attempt.ended && attempt.tally.failed > 0;
    if (!part.finished() || held)
      emit(PartGone{attempt_id, id, Cause::node_lost, reason, fence_of(attempt, part)});
    else if (attempt.ended)
      emit(PartReleased{attempt_id, id, true});  // its logs are given up
  }
}

}  // namespace lockstep::launcher
