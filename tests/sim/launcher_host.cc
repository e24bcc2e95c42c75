#include "tests/sim/launcher_host.h"

#include "launcher/core/invariants.h"
#include "launcher/state/compact.h"
#include "launcher/words/why.h"
#include "tests/sim/cluster.h"
#include "tests/sim/coverage.h"

namespace lockstep::sim {

using launcher::StampedFact;

LauncherHost::LauncherHost(Cluster& cluster) : cluster_(cluster), provider_(cluster) {
  config_.stop_grace = seconds(3);
  config_.reconnect_grace = seconds(20);
  config_.prepare_timeout = seconds(45);
  config_.logs_timeout = seconds(40);
  if (cluster.saboteur.has(Defect::logs_given_up_at_once)) config_.space_timeout = Duration::zero();
  config_.keeps.jobs_for = cluster.weather.keep_jobs_for;
  config_.gang_radix = cluster.weather.gang_radix;
  config_.fence_lease = seconds(12);
  config_.fence_margin = milliseconds(2200);  // a runner takes 2 s
}

void LauncherHost::start() {
  if (core_ || left_) return;
  ++incarnation_;
  cluster_.world.trace("launcher starts with {} facts", journal_.size());
  core_ = std::make_unique<launcher::Core>(config_);
  inbox_.clear();
  users_.clear();
  sessions_.clear();
  awaited_.clear();
  liveness_.clear();
  wake_ = Instant::never();
  turn_planned_ = stopped_ = was_stopped_ = false;
  cluster_.oracle.set_limits(config_.node_lost_timeout, config_.reconnect_grace,
                             config_.logs_timeout);
  cluster_.oracle.launcher_started();
  for (const auto& fact : journal_) core_->replay(fact);
  if (!(core_->state() == committed_))
    cluster_.world.violate("replay", "the state after a restart is not the fold of the journal");
  if (!cluster_.saboteur.has(Defect::recovery_forgets_itself)) core_->recovered(cluster_.world.now);
  writing_.clear();
  ahead_.clear();
  told_.clear();
  cut_after_write_ = CutAt::nowhere;
  was_writing_ = false;
  made_ = durable_ = 0;
  turns_.emplace(launcher::Turns::Core{
      [this] { return cluster_.world.now - stalled_for_; },
      [this](Instant at, const launcher::Input& input, bool more) {
        return handle(at, input, more);
      },
      [this](Instant at, const launcher::HeartbeatInput& input) { return hear(at, input); },
      [this] { return core_->next_deadline(); },
      [this](const std::vector<StampedFact>& facts) {
        cluster_.world.count("launcher:writes_ahead");
        ahead_.insert(ahead_.end(), facts.begin(), facts.end());
      }});
  auto actions = core_->resume();
  cluster_.saboteur.launcher_acts(actions, true);
  for (const auto& action : actions) perform(action);
  // As the daemon reads keys/authorized_users before it listens.
  const PublicKey key(std::string(40, 'u'));
  inbox_.push_back(launcher::KeysFileInput{{"ada", {{"ada", key}}}});
  plan_turn(Duration(0));
}

void LauncherHost::crash() {
  if (!core_) return;
  cluster_.world.trace("launcher dies");
  // The disk may have taken what was being written.
  if (!writing_.empty() && cluster_.world.random.chance(0.5)) commit(writing_.front());
  writing_.clear();
  // Before or after the new file took the old one's place.
  if (compacting_ && cluster_.world.random.chance(0.5)) end_compaction();
  compacting_.reset();
  core_.reset();
  ++incarnation_;
  provider_.launcher_died();
  cluster_.restart_launcher_later();
}

void LauncherHost::stop_for(Duration duration) {
  if (!core_ || stopped_) return;
  cluster_.world.trace("launcher is stopped for {}", format_duration(duration));
  stopped_ = was_stopped_ = true;
  cluster_.world.after(duration, [this, incarnation = incarnation_] {
    if (incarnation != incarnation_) return;
    stopped_ = false;
    plan_turn(Duration(0));
  });
}

void LauncherHost::deliver(launcher::Input input) {
  if (!core_) return;
  inbox_.push_back(std::move(input));
  plan_turn(cluster_.world.random.between(milliseconds(0), milliseconds(2)));
}

void LauncherHost::deliver_from(const PublicKey& key, launcher::Input input) {
  if (!core_) return;
  const auto user = users_.find(key);
  std::visit(
      [&](auto& in) {
        if constexpr (requires {
                        in.caller;
                        in.reply;
                      }) {
          if (user == users_.end())
            return cluster_.workload.refused(in.reply, ErrorCode::permission_denied,
                                             "this key is not authorised any more");
          in.caller = launcher::UserCaller{user->second};
          deliver(in);
        }
      },
      input);
}

void LauncherHost::plan_turn(Duration delay) {
  if (turn_planned_ || stopped_) return;
  turn_planned_ = true;
  cluster_.world.after(delay, [this, incarnation = incarnation_] {
    if (incarnation != incarnation_) return;
    turn_planned_ = false;
    if (!stopped_) turn();
  });
}

// The daemon polls until the core's deadline, and at least once a second.
void LauncherHost::wake_at_deadline() {
  const Instant now = cluster_.world.now;
  const Instant due =
      turns_->is_writing() ? now + seconds(1) : std::min(core_->next_deadline(), now + seconds(1));
  if (wake_ <= due && wake_ > now) return;
  wake_ = std::max(due, now + milliseconds(1));
  cluster_.world.after(wake_ - now, [this, incarnation = incarnation_, at = wake_] {
    if (incarnation != incarnation_ || wake_ != at) return;
    wake_ = Instant::never();
    if (inbox_.empty() && !turns_->is_writing()) inbox_.push_back(launcher::TickInput{});
    plan_turn(Duration(0));
  });
}

LauncherHost::CutAt LauncherHost::draw_cut() {
  static constexpr const char* kNames[] = {"", "fault:crash_before_commit", "fault:commit_fails",
                                           "fault:crash_after_commit", "fault:crash_amid_actions"};
  const CutAt cut = draw_cut_at();
  if (cut == CutAt::nowhere) return cut;
  cluster_.world.count(kNames[static_cast<int>(cut)]);
  return cut;
}

LauncherHost::CutAt LauncherHost::draw_cut_at() {
  auto& random = cluster_.world.random;
  if (random.chance(cluster_.weather.commit_fails)) return CutAt::commit_fails;
  if (!random.chance(cluster_.weather.crash_in_turn)) return CutAt::nowhere;
  switch (random.between(0, 2)) {
    case 0: return CutAt::before_commit;
    case 1: return CutAt::after_commit;
    default: return CutAt::amid_actions;
  }
}

void LauncherHost::turn() {
  ++turns_taken_;
  // The core's clocks stand still during a write.
  if (!turns_->is_writing()) {
    cluster_.oracle.launcher_polled(cluster_.world.now, was_stopped_ || was_writing_);
    if (was_stopped_ && cluster_.saboteur.has(Defect::stall_counts_as_silence)) count_stall();
    was_stopped_ = was_writing_ = false;
  }
  while (!inbox_.empty()) {
    launcher::Input input = std::move(inbox_.front());
    inbox_.pop_front();
    if (const auto* beat = std::get_if<launcher::HeartbeatInput>(&input))
      told_[{beat->beat.node, beat->beat.number}] = {static_cast<bool>(beat->beat.low_disk),
                                                     beat->beat.notice.has_value()};
    for (const auto& heard : cluster_.saboteur.launcher_hears(std::move(input)))
      turns_->feed(heard);
  }
  do {
    if (!finish_turn()) return;
  } while (!turns_->idle());
  was_writing_ = turns_->is_writing();
  check_state();
  begin_compaction();
  count_liveness();
  wake_at_deadline();
}

// As a core whose clocks went on.
void LauncherHost::count_stall() {
  for (int ago = 20; ago > 0; --ago) {
    stalled_for_ = seconds(ago);
    turns_->feed(launcher::TickInput{});
  }
  stalled_for_ = {};
}

launcher::Step LauncherHost::handle(Instant at, const launcher::Input& input, bool more) {
  if (const auto* session = std::get_if<launcher::SessionInput>(&input)) {
    const auto* node = committed_.node(session->open.node);
    if (node != nullptr && node->boot != session->open.boot) cluster_.oracle.boot_changed(node->id);
  }
  launcher::Step step = core_->handle(at, input, more);
  note_heard(step);
  for (const auto& fact : step.facts)
    if (const auto* lost = std::get_if<launcher::NodeLost>(&fact))
      cluster_.oracle.launcher_lost(*lost);
  made_ += step.facts.size();
  return step;
}

launcher::Heard LauncherHost::hear(Instant at, const launcher::HeartbeatInput& input) {
  const launcher::Heard heard = core_->hear(at, input);
  cluster_.world.count(heard.ack ? "launcher:hears_in_write" : "launcher:puts_off_beat");
  if (heard.ack) cluster_.oracle.launcher_heard(heard.ack->node);
  return heard;
}

void LauncherHost::note_heard(const launcher::Step& step) {
  for (const auto& action : step.actions) {
    if (const auto* acked = std::get_if<launcher::AckHeartbeat>(&action)) {
      const Told told = told_[{acked->node, acked->number}];
      cluster_.oracle.launcher_heard(acked->node);
      cluster_.oracle.disk_told(acked->node, told.low_disk);
      if (told.notice) cluster_.oracle.notice_told(acked->node);
    }
    if (const auto* observed = std::get_if<launcher::AckObserved>(&action))
      cluster_.oracle.launcher_heard(observed->node);
    if (const auto* session = std::get_if<launcher::AcceptSession>(&action))
      cluster_.oracle.launcher_heard(session->node);
  }
}

// False: it is dead.
bool LauncherHost::finish_turn() {
  const bool was_written = !turns_->is_writing();
  launcher::Turns::Turn turn = turns_->end();
  cluster_.saboteur.launcher_acts(turn.actions, false);
  CutAt cut = was_written ? std::exchange(cut_after_write_, CutAt::nowhere) : CutAt::nowhere;
  if (turn.writes) {
    std::vector<StampedFact> facts = std::exchange(ahead_, {});
    facts.insert(facts.end(), turn.facts.begin(), turn.facts.end());
    if (!begin_write(std::move(facts), draw_cut())) return false;
  } else if (cut == CutAt::nowhere) {
    cut = draw_cut();
  }
  perform_all(turn.actions, cut);
  if (!core_) return false;
  turns_->performed();
  return true;
}

void LauncherHost::perform_all(const std::vector<launcher::Action>& actions, CutAt cut) {
  std::size_t allowed = actions.size();
  if (cut == CutAt::amid_actions && allowed > 0)
    allowed =
        static_cast<std::size_t>(cluster_.world.random.between(0, static_cast<int>(allowed) - 1));
  else if (cut != CutAt::nowhere)
    allowed = 0;
  for (std::size_t i = 0; i < allowed && core_; ++i) {
    if (made_ != durable_ && !std::holds_alternative<launcher::AckHeartbeat>(actions[i]))
      cluster_.world.violate("oracle:durable", "an action left before the facts that it rests on");
    perform(actions[i]);
  }
  if (cut != CutAt::nowhere) crash();
}

// ---- the journal's writer ----------------------------------------------------------------------

Duration LauncherHost::draw_write() {
  auto& random = cluster_.world.random;
  if (!random.chance(cluster_.weather.disk_stall))
    return random.between(milliseconds(0), milliseconds(5));
  cluster_.world.count("fault:disk_stall");
  return random.between(seconds(1), seconds(15));
}

bool LauncherHost::begin_write(std::vector<StampedFact> facts, CutAt cut) {
  if (cut == CutAt::before_commit) {
    crash();
    return false;
  }
  writing_.push_back(std::move(facts));
  cluster_.world.after(draw_write(), [this, cut, incarnation = incarnation_] {
    if (incarnation == incarnation_) end_write(cut);
  });
  if (cluster_.saboteur.has(Defect::acts_before_commit)) turns_->written();
  return true;
}

void LauncherHost::end_write(CutAt cut) {
  const auto facts = std::move(writing_.front());
  writing_.pop_front();
  if (cut == CutAt::commit_fails) return crash();
  if (!commit(facts)) return;
  durable_ += facts.size();
  if (cut == CutAt::after_commit) return crash();
  cut_after_write_ = cut;
  if (turns_->is_writing() && writing_.empty()) turns_->written();
  plan_turn(Duration(0));
}

// On a worker, while the launcher goes on; what is committed meanwhile follows behind it.
void LauncherHost::begin_compaction() {
  auto& random = cluster_.world.random;
  if (compacting_ || !random.chance(cluster_.weather.compact)) return;
  compacting_.emplace(Compacting{launcher::compact(journal_), journal_.size()});
  cluster_.saboteur.compacts(compacting_->facts);
  const auto again = launcher::compact(compacting_->facts);
  if (again != compacting_->facts)
    cluster_.world.violate("compaction", "compacting once more changes the journal again");
  cluster_.world.after(random.between(milliseconds(0), seconds(2)),
                       [this, incarnation = incarnation_] {
                         if (incarnation == incarnation_ && compacting_) end_compaction();
                       });
}

void LauncherHost::end_compaction() {
  cluster_.world.count("launcher:compacts");
  cluster_.world.trace("journal compacted: {} of {} facts are left", compacting_->facts.size(),
                       compacting_->instead_of);
  if (compacting_->facts.size() < compacting_->instead_of)
    cluster_.world.count("launcher:compacts_away");
  const auto since = journal_.begin() + static_cast<std::ptrdiff_t>(compacting_->instead_of);
  compacting_->facts.insert(compacting_->facts.end(), since, journal_.end());
  journal_ = std::move(compacting_->facts);
  compacting_.reset();
  launcher::State fold;
  for (const auto& fact : journal_) fold.apply(fact.at, fact.fact);
  if (!(fold == committed_))
    cluster_.world.violate("compaction", "the compacted journal folds to another state");
}

bool LauncherHost::commit(const std::vector<StampedFact>& facts) {
  for (const auto& fact : facts) {
    for (int times = cluster_.saboteur.launcher_records(fact); times > 0; --times) record(fact);
    if (cluster_.world.violation) return false;
  }
  return true;
}

void LauncherHost::record(const StampedFact& fact) {
  std::map<JobId, JobStatus> before;
  for (const JobId& id : committed_.unfinished()) before[id] = committed_.job(id)->status();
  cluster_.oracle.committing(fact);
  if (cluster_.world.violation) return;
  count_parts(fact);
  committed_.apply(fact.at, fact.fact);
  cluster_.oracle.committed(fact);
  journal_.push_back(fact);
  static constexpr const char* kNames[] = {"TokenCreated",
                                           "NodeJoined",
                                           "NodeSessionStarted",
                                           "NodeLost",
                                           "NodeDrainChanged",
                                           "JobSubmitted",
                                           "CancelRequested",
                                           "AttemptPlaced",
                                           "GangFormed",
                                           "PartChanged",
                                           "PartGone",
                                           "AttemptDoomed",
                                           "AttemptEnded",
                                           "JobRequeued",
                                           "PartReleased",
                                           "JobFinished",
                                           "NodeRemoved",
                                           "TokenForgotten",
                                           "NodeRevised",
                                           "IncarnationBegan",
                                           "JobDeleted",
                                           "CheckpointSaved",
                                           "FenceLifted",
                                           "EnvironmentRegistered",
                                           "EnvironmentWanted",
                                           "EnvironmentLocked",
                                           "EnvironmentReset",
                                           "EnvironmentsPruned",
                                           "EnvironmentNotSolved",
                                           "ProjectCreated",
                                           "ProjectRemoved",
                                           "UserAdded",
                                           "UserAccountSet",
                                           "UserRemoved",
                                           "RoleGranted",
                                           "RoleWithdrawn",
                                           "UserKeyAdded",
                                           "UserKeyRevoked",
                                           "QuotaSet",
                                           "NodeApproved",
                                           "JobShared",
                                           "ComputeCreated",
                                           "ComputeUpdated",
                                           "ComputeDeleted",
                                           "ComputeLeaving",
                                           "MachineWanted",
                                           "MachineCreated",
                                           "MachineFailed",
                                           "MachineLeaving",
                                           "MachineGone",
                                           "MachineFound",
                                           "SizeDefined",
                                           "SizeRemoved",
                                           "SizeGranted",
                                           "NodeLabelsChanged",
                                           "JobPriorityChanged",
                                           "DependencyMet",
                                           "JobAtHead",
                                           "RecentUseSet",
                                           "NodeNoticed",
                                           "InstanceStarted",
                                           "InstanceStopped",
                                           "AssetRegistered",
                                           "AssetArchived",
                                           "OutputsMerged",
                                           "StepReused",
                                           "StepSkipped",
                                           "JobArchived",
                                           "JobAnnotated",
                                           "OutputWritten",
                                           "OutputNotWritten",
                                           "OutputsSoFar",
                                           "NameShared",
                                           "VersionsDeleted",
                                           "NameSettled",
                                           "EnvironmentArchived",
                                           "VersionAnnotated",
                                           "FoundChanged"};
  static_assert(std::size(kNames) == std::variant_size_v<launcher::Fact>);
  cluster_.world.count(std::string("fact:") + kNames[fact.fact.index()]);
  const JobId* job = launcher::job_of(fact.fact);
  cluster_.world.trace("  fact {} {}{}{}", journal_.size(), kNames[fact.fact.index()],
                       job != nullptr ? " " : "", job != nullptr ? job->value : "");
  if (const auto* finished = std::get_if<launcher::JobFinished>(&fact.fact))
    cluster_.workload.job_finished(finished->job);
  count_transitions(fact, before);
}

void LauncherHost::count_transitions(const StampedFact& fact,
                                     const std::map<JobId, JobStatus>& before) {
  for (const auto& [id, old] : before) {
    if (committed_.job(id) == nullptr) continue;
    const JobStatus now = committed_.job(id)->status();
    if (now == old) continue;
    const char* kind = committed_.job(id)->steps ? "pipeline" : "job";
    const auto name = fmt::format("{}:{}->{}", kind, to_string(old), to_string(now));
    cluster_.world.trace("{} of {}", name, id.value);
    count_transition(name);
    if (now == JobStatus::starting) cluster_.workload.job_starts(id);
  }
  if (const auto* drained = std::get_if<launcher::NodeDrainChanged>(&fact.fact))
    if (drained->draining) cluster_.drained_once.insert(committed_.node_name(drained->node));
  if (const auto* lost = std::get_if<launcher::NodeLost>(&fact.fact))
    cluster_.world.trace("node {} is lost: {}", lost->node.value, words::text_of(lost->why));
  if (const auto* gone = std::get_if<launcher::PartGone>(&fact.fact))
    cluster_.world.trace("part {} on node {} is gone: {}", to_string(gone->attempt),
                         gone->node.value, words::text_of(gone->why));
  if (const auto* doomed = std::get_if<launcher::AttemptDoomed>(&fact.fact))
    cluster_.world.trace("{} is doomed: {}", to_string(doomed->attempt),
                         words::text_of(doomed->report.why));
}

// Before the fact is applied.
void LauncherHost::count_parts(const StampedFact& fact) {
  const auto count = [this](const AttemptId& attempt, NodeId node, std::string_view next) {
    const auto* part = committed_.assigned_part(attempt, node);
    const auto old = part != nullptr && part->report ? to_string(part->report->state) : "none";
    cluster_.world.count(fmt::format("part:{}->{}", old, next));
  };
  if (const auto* changed = std::get_if<launcher::PartChanged>(&fact.fact))
    count(changed->attempt, changed->node, to_string(changed->report.state));
  if (const auto* gone = std::get_if<launcher::PartGone>(&fact.fact))
    count(gone->attempt, gone->node, "gone");
  if (const auto* released = std::get_if<launcher::PartReleased>(&fact.fact))
    count(released->attempt, released->node, "released");
}

void LauncherHost::count_transition(const std::string& name) {
  cluster_.world.count(name);
  if (!legal_transition(name)) cluster_.world.violate("transition", name + " is not possible");
}

void LauncherHost::count_liveness() {
  for (const auto& [id, node] : core_->state().nodes()) {
    const auto view = core_->node_view(std::to_string(id.value));
    if (!view) continue;
    const auto old = liveness_.find(id);
    if (old != liveness_.end() && old->second != view->liveness) {
      count_transition(
          fmt::format("liveness:{}->{}", to_string(old->second), to_string(view->liveness)));
      cluster_.oracle.liveness_changed(id, view->liveness);
      cluster_.world.trace("n{} {} -> {}", cluster_.oracle.node_index(id), to_string(old->second),
                           to_string(view->liveness));
    }
    liveness_[id] = view->liveness;
  }
}

void LauncherHost::check_state() {
  for (const auto& broken : launcher::check_invariants(core_->state()))
    cluster_.world.violate("invariant", broken);
  if (turns_taken_ % 16 == 0) check_replay();
}

void LauncherHost::check_replay() {
  if (core_ && writing_.empty() && !(core_->state() == committed_))
    cluster_.world.violate("replay", "the live state is not the fold of the committed facts");
}

void LauncherHost::logs_arrived(const AttemptId& attempt, NodeId node) {
  if (awaited_.erase({attempt, node}) != 0) deliver(launcher::LogsDurableInput{attempt, node});
}

void LauncherHost::logs_refused(const AttemptId& attempt, NodeId node, std::uint64_t episode) {
  if (stopped_) return;
  const bool is_awaited = awaited_.count({attempt, node}) != 0;
  cluster_.oracle.logs_refused(attempt, node, episode, is_awaited);
  deliver(launcher::LogsRefusedInput{attempt, node, episode, is_awaited ? 1000U : 0U});
}

// ---- actions -----------------------------------------------------------------------------------

void LauncherHost::perform(const launcher::Action& action) {
  std::visit([this](const auto& a) { act(a); }, action);
}

void LauncherHost::act(const launcher::SendDesired& action) {
  const auto session = sessions_.find(action.node);
  if (session == sessions_.end()) return;
  cluster_.to_agent(action.node, Desired{session->second, core_->desired_for(action.node)});
}

void LauncherHost::act(const launcher::AcceptSession& action) {
  sessions_[action.node] = action.session;
  cluster_.to_agent(action.node, SessionAccepted{action.session, config_.heartbeat_interval,
                                                 core_->desired_for(action.node)});
}

void LauncherHost::act(const launcher::RefuseSession& action) {
  cluster_.world.count("launcher:refuse_session");
  cluster_.to_agent_with_key(
      action.key, SessionRefused{action.session, words::text_of(action.why), action.removed});
}

void LauncherHost::act(const launcher::AskForSession& action) {
  if (action.question != 0) cluster_.world.count("launcher:asks_of_leftovers");
  cluster_.to_agent_with_key(action.key, SessionLost{action.session, action.question});
}

void LauncherHost::act(const launcher::AckObserved& action) {
  cluster_.to_agent(action.node, ObservedAck{action.session, action.sequence});
}

void LauncherHost::act(const launcher::AckHeartbeat& action) {
  cluster_.to_agent(action.node, HeartbeatAck{action.session, action.number, action.revision});
}

void LauncherHost::act(const launcher::AwaitLogs& action) {
  awaited_.insert({action.attempt, action.node});
  if (cluster_.oracle.logs_durable(action.attempt, action.node) ||
      cluster_.saboteur.has(Defect::logs_taken_for_durable))
    logs_arrived(action.attempt, action.node);
}

// By a worker, which is gone if the launcher ends meanwhile.
void LauncherHost::act(const launcher::MergeOutputs& action) {
  auto& random = cluster_.world.random;
  const bool fails = random.chance(cluster_.weather.no_space_for_logs);
  if (fails) cluster_.world.count("fault:merge_fails");
  launcher::OutputsMergedInput merged{action.job, merge(action), fails ? "no space" : ""};
  const Duration takes = random.between(milliseconds(1), milliseconds(200));
  cluster_.world.after(takes, [this, merged = std::move(merged), life = incarnation_] {
    if (life == incarnation_) deliver(merged);
  });
}

// The remote may have it although the launcher, and rclone with it, ended before it was told.
void LauncherHost::act(const launcher::WriteOutput& action) {
  auto& random = cluster_.world.random;
  const bool fails = !cluster_.winding_down && random.chance(0.3);
  if (fails) cluster_.world.count("fault:write_fails");
  const launcher::OutputWrittenInput written{action.job, action.order, action.output,
                                             fails ? told("the server refuses it") : Why()};
  const Duration takes = random.between(milliseconds(1), seconds(2));
  const bool is_quick = random.chance(0.5);
  cluster_.world.after(takes, [this, action, written, is_quick, life = incarnation_] {
    if (!written.why_not && (is_quick || life == incarnation_))
      cluster_.oracle.output_written(action);
    if (life == incarnation_) deliver(written);
  });
}

void LauncherHost::act(const launcher::ReplySubmitted& action) {
  const bool deleted = committed_.deleted().last().count(action.job) != 0;  // in the same turn
  if (committed_.job(action.job) == nullptr && !deleted)
    cluster_.world.violate(
        "oracle:reply", "a client was told of " + action.job.value + ", which was never committed");
  cluster_.workload.replied(action.to, action.job);
}

void LauncherHost::act(const launcher::ReplyJoined& action) {
  const bool removed = committed_.removed_nodes().count(action.node) != 0;  // in the same turn
  if (committed_.node(action.node) == nullptr && !removed)
    cluster_.world.violate("oracle:reply", "a node was told of an identity never committed");
  cluster_.workload.joined(action.to, action.node);
}

void LauncherHost::act(const launcher::ReplyDone& action) { cluster_.workload.done(action.to); }

void LauncherHost::act(const launcher::ReplyEnvironment& action) {
  cluster_.workload.done(action.to);
}

void LauncherHost::act(const launcher::ReplyCompute& action) { cluster_.workload.done(action.to); }
void LauncherHost::act(const launcher::ReplyAsset& action) { cluster_.workload.done(action.to); }
void LauncherHost::act(const launcher::ReplySizes& action) { cluster_.workload.done(action.to); }

void LauncherHost::act(const launcher::ReplyRefused& action) {
  cluster_.workload.refused(action.to, action.code, action.message);
}

void LauncherHost::act(const launcher::ReplyDeleted& action) {
  cluster_.workload.deleted(action.to, action.result);
}

void LauncherHost::act(const launcher::ExitDaemon& action) {
  cluster_.workload.done(action.to);
  left_ = true;
  core_.reset();
  ++incarnation_;
}

}  // namespace lockstep::sim
