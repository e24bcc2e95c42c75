// The steps of each part: recovered, staged, started, reported, collected, removed.

#include "agent/core/impl.h"
#include "common/base/check.h"
#include "common/domain/why/ranks/parts.h"

namespace lockstep::agent {

using Stage = Part::Stage;

namespace {

// A checkpoint whose files change all the time is captured all the same after this time.
constexpr Duration kWritingTimeout = seconds(20);
constexpr Duration kLookAgainAfter = seconds(1);

// Whether a runner that got `phase` has not shown yet that it follows.
bool lags(PartState state, WantedPhase phase) {
  switch (phase) {
    case WantedPhase::prepare: return false;
    case WantedPhase::run: return state < PartState::running;
    case WantedPhase::stop: return state < PartState::stopping;
  }
  return false;
}

// All outputs and the checkpoint, as they were last captured.
std::vector<CollectedOutput> so_far(const Part& part) {
  std::vector<CollectedOutput> outputs;
  for (const auto& [place, folder] : part.folders) outputs.push_back(folder);
  if (part.checkpoint) outputs.push_back(*part.checkpoint);
  return outputs;
}

}  // namespace

void Core::Impl::on(const Recovered& input) {
  CHECK(parts.empty() && link == Link::none, "Recovered is an agent's first input");
  for (const auto& found : input.parts) recover(found);
}

void Core::Impl::recover(const FoundPart& found) {
  const AttemptId& attempt = found.assignment.attempt;
  Part fresh;
  fresh.stage = Stage::found;
  fresh.assignment = found.assignment;
  fresh.report.attempt = attempt;
  fresh.restored = fresh.report.restored = found.restored;
  fresh.lease_until = fresh.lease_written = found.lease_until;
  fresh.report.started = found.started;
  fresh.environment_log_bytes = found.environment_log_bytes;
  auto& part = parts.insert_or_assign(attempt, std::move(fresh)).first->second;
  using Runner = FoundPart::Runner;
  if (found.runner == Runner::never_started) {
    // The part's exit counts these bytes, and the launcher waits for every counted byte. That holds
    // also for a job that is canceled before anything is staged again.
    if (found.environment_log_bytes != 0) out.push_back(ShipLogs{attempt});
    return;
  }
  if (found.runner == Runner::alive) {
    must_tell(part);  // an agent may die after it wrote the exit and before it told the launcher
    return attach(part);
  }
  out.push_back(ShipLogs{attempt});
  // An earlier agent may have collected outputs without telling the launcher, so all of them are
  // collected again. The report says that the ranks have ended, even after a reboot.
  part.report.state = PartState::collecting;
  if (found.runner == Runner::finished && found.exit) return collect(part, *found.exit);
  out.push_back(KillRunner{attempt});
  collect(part, unreported_exit(Cause::runner_lost, RunnerDied{true, "", found.last_words}, now,
                                found.logs, found.log_times));
}

void Core::Impl::attach(Part& part) {
  part.stage = Stage::alive;
  out.push_back(ShipLogs{part.assignment.attempt});
  converge(part);
}

void Core::Impl::on(const WorkspaceStaged& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || (part->stage != Stage::staging && part->stage != Stage::discarding))
    return;
  const bool discarded = part->stage == Stage::discarding;
  part->stage = discarded ? Stage::ended : Stage::starting;
  if (discarded) return converge(*part);
  if (!input.result) {
    NodeExitReport exit = unreported_exit(input.cause, told(input.result.error().message), now);
    exit.hopeless = input.result.error().code == ErrorCode::invalid_argument;
    exit.absent = input.result.error().code == ErrorCode::unsatisfiable;
    return end(*part, std::move(exit));
  }
  part->restored = part->report.restored = input.restored;
  if (!part->assignment.spec.environment) return staged(*part);
  part->stage = Stage::equipping;
  part->report.progress.clear();
  out.push_back(ShipLogs{input.attempt});  // the environment's log is sent from its first line
  out.push_back(PrepareEnvironment{part->assignment});
}

// Called when the part's directory and its environment are ready.
void Core::Impl::staged(Part& part) {
  if (has_lease(part)) return start(part);
  part.stage = Stage::staged;
}

void Core::Impl::on(const EnvironmentProgress& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::equipping) return;
  part->report.progress = input.text;
  changed(*part, now + heartbeat);  // the detail is for people and waits for the next heartbeat
}

void Core::Impl::on(const EnvironmentChanged& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::equipping) return;
  part->report.environment = input.report;
  part->environment_log_bytes = input.log_bytes;
  if (input.report.step != EnvironmentReport::Step::ready) return changed(*part, now);
  changed(*part, now + heartbeat);  // the detail is sent with the next change
  part->report.progress.clear();
  staged(*part);
}

void Core::Impl::on(const EnvironmentFailed& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::equipping) return;
  part->environment_log_bytes = input.log_bytes;
  end(*part, unreported_exit(input.cause, input.why ? input.why : told(input.error.message), now));
}

void Core::Impl::start(Part& part) {
  part.stage = Stage::starting;
  // Secrets are in no file that the runner could read.
  if (part.assignment.secrets) must_tell(part);
  if (!part.assignment.secrets) need_not_tell(part);
  if (part.assignment.lease > Duration::zero()) {
    part.lease_written = part.lease_until;
    out.push_back(RenewLease{part.assignment.attempt, part.lease_until});
  }
  out.push_back(StartRunner{part.assignment});
}

void Core::Impl::on(const StagingProgress& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::staging) return;
  part->report.progress = input.text;
  changed(*part, now + heartbeat);  // the detail is for people and waits for the next heartbeat
}

void Core::Impl::on(const RunnerStarted& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::starting) return;
  if (input.result) return attach(*part);
  out.push_back(KillRunner{input.attempt});  // the start may have got half way
  end(*part, unreported_exit(Cause::start_failed, told(input.result.error().message), now));
}

void Core::Impl::on(const RunnerReported& input) {
  auto* part = find(input.attempt);
  if (part == nullptr) return;
  const bool over = part->stage == Stage::collecting || part->stage == Stage::removing ||
                    part->report.state == PartState::finished;
  if (over) return;
  if (part->stage != Stage::alive) attach(*part);
  if (input.report.state < part->report.state) return;
  if (input.report.state == PartState::finished) {
    auto exit =
        input.report.exit.value_or(unreported_exit(Cause::runner_lost, RunnerToldNoEnd{}, now));
    const PartState shown = part->report.state;
    auto environment = std::move(part->report.environment);
    part->report = input.report;
    part->report.environment = std::move(environment);
    part->report.outputs = so_far(*part);
    part->report.restored = part->restored;
    part->report.state = shown;  // the exit is reported when all outputs are collected
    part->report.exit.reset();
    return collect(*part, std::move(exit));
  }
  PartReport report = input.report;
  report.attempt = input.attempt;
  report.outputs = so_far(*part);
  report.restored = part->restored;
  report.environment = part->report.environment;
  if (report == part->report) return;
  part->report = std::move(report);
  changed(*part, now);
  const bool captures =
      part->report.state == PartState::running && part->assignment.phase != WantedPhase::stop;
  if (!captures || part->capture_at != Instant::never()) return;
  part->capture_at = now + config.look_every;
  const Duration every = part->assignment.spec.checkpoint.every;
  if (every > Duration::zero()) part->checkpoint_at = now + every;
}

void Core::Impl::on(const RunnerGone& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || (part->stage != Stage::alive && part->stage != Stage::starting)) return;
  if (part->report.started.ns == 0) part->report.started = input.started;
  out.push_back(KillRunner{input.attempt});  // processes that the runner may have left
  if (part->killed == Part::Killed::lease_over)
    return collect(*part, unreported_exit(Cause::node_lost, LeaseRanOut{part->assignment.lease},
                                          now, input.logs, input.log_times));
  const Why why = part->killed != Part::Killed::no
                      ? Why(RunnerWasKilled{})
                      : RunnerDied{false, input.removed_directory, input.last_words};
  collect(*part, unreported_exit(Cause::runner_lost, why, now, input.logs, input.log_times));
}

// The times at which ranks were killed, rather than ended by themselves.
std::vector<Instant> killed_in(const NodeExitReport& exit) {
  std::vector<Instant> times;
  for (const RankExit& rank : exit.ranks)
    if (rank.signal != 0 || rank.cause == Cause::out_of_memory) times.push_back(rank.time);
  if (exit.ranks.empty()) times.push_back(exit.ended);  // nobody saw how the ranks ended
  return times;
}

std::vector<RankEnd> ends_of(const NodeExitReport& exit) {
  std::vector<RankEnd> ends;
  for (const RankExit& rank : exit.ranks) ends.push_back(end_of(rank));
  return ends;
}

// Begins to collect the outputs after the ranks have ended, in whatever way. The part ends when its
// outputs are kept; the launcher takes no outputs of a part that it no longer wants.
void Core::Impl::collect(Part& part, NodeExitReport exit) {
  if (!part.wanted) return end(part, std::move(exit));
  part.stage = Stage::collecting;
  out.push_back(CollectOutputs{part.assignment, killed_in(exit)});
  if (!exit.ranks.empty()) part.report.ended = ends_of(exit);
  part.exit = std::move(exit);
  part.kill_at = Instant::never();
  need_not_tell(part);
  part.capture_at = part.checkpoint_at = Instant::never();
  part.report.attempt = part.assignment.attempt;
  converge(part);
}

void Core::Impl::on(const OutputsProgress& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::collecting) return;
  hear_of_space(*part, input.is_stuck, now);
  const bool news = part->report.state != PartState::collecting;
  part->report.state = PartState::collecting;
  part->report.progress = input.text;
  changed(*part, news ? now : now + heartbeat);
}

void Core::Impl::on(const FolderCaptured& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::alive) return;
  part->folders[{input.folder.kind, input.folder.name}] = input.folder;
  part->report.outputs = so_far(*part);
  changed(*part, now + heartbeat);
}

void Core::Impl::on(const CheckpointCaptured& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::alive) return;
  const Duration every = part->assignment.spec.checkpoint.every;
  if (part->assignment.phase != WantedPhase::stop)
    part->checkpoint_at = now + (input.busy ? std::min<Duration>(every, kLookAgainAfter) : every);
  if (!input.busy) part->writing_since.reset();
  if (input.busy && !part->writing_since) part->writing_since = now;
  if (!input.checkpoint) return;
  part->checkpoint = input.checkpoint;
  part->report.outputs = so_far(*part);
  changed(*part, now);
}

// Captures the checkpoint. It is looked at again when the last capture was answered.
void Core::Impl::capture(Part& part) {
  if (now >= part.capture_at) {
    part.capture_at = now + config.look_every;
    out.push_back(CaptureFolders{part.assignment});
  }
  if (now < part.checkpoint_at) return;
  part.checkpoint_at = Instant::never();
  const bool insist = part.writing_since && now - *part.writing_since >= kWritingTimeout;
  out.push_back(CaptureCheckpoint{part.assignment, insist});
}

void Core::Impl::on(const OutputsCollected& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::collecting) return;
  part->report.outputs = input.outputs;
  part->report.not_kept = input.not_kept;
  part->report.progress.clear();
  end(*part, *std::move(part->exit));
}

void Core::Impl::on(const PartRemoved& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::removing) return;
  parts.erase(input.attempt);
  unacked.removed(input.attempt);
  observe_at = std::min(observe_at, now);
  leave_when_empty();
}

void Core::Impl::end(Part& part, NodeExitReport exit) {
  const bool is_at_work = part.stage == Stage::staging;
  if (part.stage == Stage::equipping) out.push_back(LeaveEnvironment{part.assignment.attempt});
  part.stage = is_at_work ? Stage::discarding : Stage::ended;
  part.kill_at = Instant::never();
  need_not_tell(part);
  part.report.attempt = part.assignment.attempt;
  part.exit.reset();
  // A runner that died before it reported when its ranks started cannot be asked any more.
  if (exit.started.ns == 0) exit.started = part.report.started;
  if (part.report.started.ns == 0) part.report.started = exit.started;
  part.report.state = PartState::finished;
  part.report.ended.clear();  // the exit report has them
  const bool is_told = std::any_of(exit.logs.begin(), exit.logs.end(),
                                   [](const LogSize& size) { return size.environment_bytes != 0; });
  if (part.environment_log_bytes != 0 && !is_told)
    exit.logs.push_back({part.assignment.node_rank, 0, 0, part.environment_log_bytes});
  part.report.exit = std::move(exit);
  changed(part, now);
  converge(part);
}

void Core::Impl::changed(const Part& part, Instant tell_at) {
  observe_at = unacked.empty() ? tell_at : std::min(observe_at, tell_at);
  unacked.changed(part.assignment.attempt);
}

void Core::Impl::run_part_timers() {
  for (auto& [attempt, part] : parts) {
    if (part.stage == Stage::removing && now >= part.remove_again) remove(part);
    if (now >= settles_at(part, config.space_timeout)) {
      part.space = Part::Space::settled;
      out.push_back(SettleOutputs{attempt});
    }
    if (part.stage != Stage::alive) continue;
    if (part.assignment.lease > Duration::zero() && part.killed != Part::Killed::lease_over &&
        !has_lease(part))
      end_lease(part);
    if (link == Link::open) capture(part);
    if (part.told == Part::Told::sent && now >= part.look_again) {
      need_not_tell(part);
      if (lags(part.report.state, part.assignment.phase)) must_tell(part);
      converge(part);
    }
    if (now >= part.kill_at) {
      part.kill_at = now + kInsistEvery;
      if (part.killed == Part::Killed::no) part.killed = Part::Killed::overdue;
      out.push_back(KillRunner{attempt});
    }
  }
}

}  // namespace lockstep::agent
