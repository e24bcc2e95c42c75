#include "agent/core/core.h"

#include <algorithm>

#include "agent/core/parts.h"
#include "common/base/check.h"

namespace lockstep::agent {

using Stage = Part::Stage;

namespace {

enum class Link {
  none,     // no transport, or it was given up: Connected opens it
  opening,  // SessionOpen was sent, and is sent again
  open,     // accepted
  refused,  // for good
};

constexpr Duration kInsistEvery = seconds(5);  // KillRunner, RemovePart again
constexpr Duration kTellEvery = seconds(1);    // UpdateRunner again, while the runner lags behind

template <typename T>
concept AboutSession = requires(const T& message) {
  message.session;
};

std::string with_last_words(std::string message, const std::string& last_words) {
  return last_words.empty() ? message : std::move(message) + "; its log ends: " + last_words;
}

// True while a runner that was told `phase` has not shown that it follows.
bool lags(PartState state, WantedPhase phase) {
  switch (phase) {
    case WantedPhase::prepare: return false;
    case WantedPhase::run: return state < PartState::running;
    case WantedPhase::stop: return state < PartState::stopping;
  }
  return false;
}

}  // namespace

struct Core::Impl {
  explicit Impl(Config c) : config(std::move(c)), heartbeat(config.heartbeat_interval) {}

  Config config;
  Duration heartbeat;
  Link link = Link::none;
  std::optional<std::uint64_t> revision;  // applied; none: nothing is staged or removed
  std::uint64_t answers = 0;              // the launcher's newest question
  std::optional<std::string> removed;     // from the launcher: why we leave when all parts are gone
  Instant last_word;
  Instant next_beat = Instant::never();  // heartbeat when open, SessionOpen again when opening
  Instant observe_at = Instant::never();
  std::map<AttemptId, Part> parts;
  Unacknowledged unacked;

  Instant now;
  std::vector<Action> out;

  void on(const Recovered& input);
  void on(const Connected&) { open_session(); }
  void on(const FromLauncher& input);
  void on(const WorkspaceStaged& input);
  void on(const StagingProgress& input);
  void on(const RunnerStarted& input);
  void on(const RunnerReported& input);
  void on(const RunnerGone& input);
  void on(const OutputsProgress& input);
  void on(const OutputsCollected& input);
  void on(const LogsCaptured& input);
  void on(const PartRemoved& input);
  void on(const Tick&) {}

  void hear(const SessionAccepted& message);
  void hear(const SessionRefused& message);
  void hear(const SessionLost& message);
  void hear(const HeartbeatAck&) {}
  void hear(const ObservedAck& message) { unacked.acknowledged(message.sequence); }
  void hear(const Desired& message) { apply(message.desired); }
  template <typename T>
  void hear(const T&) {}  // not for agents

  Part* find(const AttemptId& attempt);
  void open_session();
  void leave_when_empty();
  void apply(const DesiredState& desired);
  void want(const Assignment& assignment);
  void recover(const FoundPart& found);
  void converge(Part& part);
  void converge_alive(Part& part);
  void attach(Part& part);
  void remove(Part& part);
  void collect(Part& part, NodeExitReport exit);
  void end(Part& part, NodeExitReport exit);
  void changed(const Part& part, Instant tell_at);
  void run_part_timers();
  void run_link_timers();
  void send_observed();
};

// ---- session -----------------------------------------------------------------------------------

void Core::Impl::open_session() {
  if (link == Link::refused) return;
  if (link != Link::opening) last_word = now;
  link = Link::opening;
  next_beat = now + heartbeat;
  SessionOpen open;
  open.node = config.node;
  open.boot = config.boot;
  open.session = config.session;
  open.desired_revision = revision.value_or(0);
  open.answers = answers;
  for (const auto& [attempt, part] : parts) open.parts.push_back(part.report);
  out.push_back(SendSession{std::move(open)});
}

void Core::Impl::on(const FromLauncher& input) {
  if (link == Link::none || link == Link::refused) return;
  std::visit(
      [this](const auto& message) {
        if constexpr (AboutSession<std::decay_t<decltype(message)>>) {
          if (message.session != config.session) return;  // meant for an earlier start of ours
          last_word = now;
          hear(message);
        }
      },
      input.message);
}

void Core::Impl::hear(const SessionAccepted& message) {
  if (message.heartbeat_interval.count() > 0) heartbeat = message.heartbeat_interval;
  if (link == Link::opening) {
    link = Link::open;
    next_beat = now + heartbeat;
    observe_at = now;
  }
  apply(message.desired);
}

void Core::Impl::hear(const SessionRefused& message) {
  link = Link::refused;
  if (!message.removed) {
    out.push_back(ExitAgent{message.reason});
    return;
  }
  // The launcher knows this node no more, so nobody else ends what runs here.
  removed = message.reason;
  apply({UINT64_MAX, {}});
  leave_when_empty();
}

void Core::Impl::leave_when_empty() {
  if (removed && parts.empty()) out.push_back(ExitAgent{*removed});
}

void Core::Impl::hear(const SessionLost& message) {
  answers = message.question;
  if (link == Link::open) open_session();
}

void Core::Impl::run_link_timers() {
  if (link == Link::none || link == Link::refused) return;
  if (now - last_word >= config.launcher_silent_after) {
    link = Link::none;
    out.push_back(Reconnect{});
    return;
  }
  if (now < next_beat) return;
  if (link == Link::opening) return open_session();
  next_beat = now + heartbeat;
  out.push_back(
      SendHeartbeat{{config.node, config.session, revision.value_or(0), unacked.sequence()}});
}

void Core::Impl::send_observed() {
  if (link != Link::open || unacked.empty() || now < observe_at) return;
  Observed observed = unacked.next(parts);
  observed.node = config.node;
  observed.session = config.session;
  observe_at = now + heartbeat;
  out.push_back(SendObserved{std::move(observed)});
}

// ---- desired state -----------------------------------------------------------------------------

void Core::Impl::apply(const DesiredState& desired) {
  if (revision && desired.revision <= *revision) return;  // late or doubled
  revision = desired.revision;
  for (auto& [attempt, part] : parts) part.wanted = false;
  for (const auto& assignment : desired.assignments) want(assignment);
  for (auto& [attempt, part] : parts) converge(part);
}

void Core::Impl::want(const Assignment& assignment) {
  if (auto* part = find(assignment.attempt)) {
    part->wanted = true;
    if (assignment.phase <= part->assignment.phase) return;
    part->assignment = assignment;
    part->runner_told = false;
    return;
  }
  Part part;
  part.assignment = assignment;
  part.stage = Stage::found;
  part.report.attempt = assignment.attempt;
  const bool full = parts.size() >= kMaxHeldParts;
  auto& held = parts.emplace(assignment.attempt, std::move(part)).first->second;
  changed(held, now);
  if (full)
    end(held, unreported_exit(Cause::start_failed,
                              "the node already holds " + std::to_string(kMaxHeldParts) +
                                  " parts; it takes more when old ones are released",
                              now));
}

void Core::Impl::converge(Part& part) {
  if (!revision) return;
  switch (part.stage) {
    case Stage::found:
      if (!part.wanted) return remove(part);
      if (part.assignment.phase == WantedPhase::stop)
        return end(part, unreported_exit(Cause::canceled, "stopped before it was staged", now));
      part.stage = Stage::staging;
      out.push_back(StageWorkspace{part.assignment});
      return;
    case Stage::staging:
      if (part.wanted && part.assignment.phase != WantedPhase::stop) return;
      return end(part,
                 unreported_exit(Cause::canceled, "stopped before its runner was started", now));
    case Stage::discarding:
    case Stage::starting:
    case Stage::removing: return;  // what is at work answers first
    case Stage::alive: return converge_alive(part);
    // Not wanted: the launcher let go of it, and would refuse what comes back.
    case Stage::collecting:
    case Stage::ended:
      if (!part.wanted) remove(part);
      return;
  }
}

void Core::Impl::converge_alive(Part& part) {
  auto& wanted = part.assignment;
  if (!part.wanted && wanted.phase != WantedPhase::stop) {
    wanted.phase = WantedPhase::stop;
    wanted.stop_reason = StopReason::superseded;
    part.runner_told = false;
  }
  if (wanted.phase == WantedPhase::stop) part.capture_at = Instant::never();
  if (wanted.phase == WantedPhase::stop)
    part.kill_at = std::min(part.kill_at, now + wanted.grace + config.stop_overdue);
  if (part.runner_told) return;
  part.runner_told = true;
  part.tell_again = now + kTellEvery;
  out.push_back(UpdateRunner{wanted});
}

void Core::Impl::remove(Part& part) {
  part.stage = Stage::removing;
  part.remove_again = now + kInsistEvery;
  out.push_back(RemovePart{part.assignment.attempt});
}

// ---- parts -------------------------------------------------------------------------------------

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
  auto& part = parts.insert_or_assign(attempt, std::move(fresh)).first->second;
  using Runner = FoundPart::Runner;
  if (found.runner == Runner::never_started) return;
  if (found.runner == Runner::alive) {
    part.runner_told = false;  // an agent may die between writing and telling
    return attach(part);
  }
  out.push_back(ShipLogs{attempt});
  // What an earlier agent collected, it may not have told: all of it is collected again. That its
  // ranks have ended is known, even over a reboot.
  part.report.state = PartState::collecting;
  if (found.runner == Runner::finished && found.exit) return collect(part, *found.exit);
  out.push_back(KillRunner{attempt});
  const std::string why = "the runner died without a final report while no agent watched";
  collect(part, unreported_exit(Cause::runner_lost, with_last_words(why, found.last_words), now,
                                found.logs));
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
  if (!input.result)
    return end(*part, unreported_exit(Cause::workspace_failed, input.result.error().message, now));
  part->runner_told = true;
  out.push_back(StartRunner{part->assignment});
}

void Core::Impl::on(const StagingProgress& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::staging) return;
  part->report.progress = input.text;
  changed(*part, now + heartbeat);  // for people: no message of its own
}

void Core::Impl::on(const RunnerStarted& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::starting) return;
  if (input.result) return attach(*part);
  out.push_back(KillRunner{input.attempt});  // it may have got half way
  end(*part, unreported_exit(Cause::start_failed, input.result.error().message, now));
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
    auto exit = input.report.exit.value_or(
        unreported_exit(Cause::runner_lost, "the runner finished without saying how", now));
    const PartState shown = part->report.state;
    part->report = input.report;
    part->report.outputs = part->logs;
    part->report.state = shown;  // until all that it left is collected
    part->report.exit.reset();
    return collect(*part, std::move(exit));
  }
  PartReport report = input.report;
  report.attempt = input.attempt;
  report.outputs = part->logs;
  if (report == part->report) return;
  part->report = std::move(report);
  changed(*part, now);
  const bool captures =
      part->report.state == PartState::running && part->assignment.phase != WantedPhase::stop;
  if (captures && part->capture_at == Instant::never()) part->capture_at = now + config.logs_every;
}

void Core::Impl::on(const RunnerGone& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || (part->stage != Stage::alive && part->stage != Stage::starting)) return;
  out.push_back(KillRunner{input.attempt});  // what it may have left
  const std::string why =
      part->killed ? "the runner did not stop in time and was killed"
                   : with_last_words("the runner died without a final report", input.last_words);
  collect(*part, unreported_exit(Cause::runner_lost, why, now, input.logs));
}

// Its ranks have ended, however: the part is not finished before what they left is kept. Of a part
// that the launcher let go of it would take nothing.
void Core::Impl::collect(Part& part, NodeExitReport exit) {
  if (!part.wanted) return end(part, std::move(exit));
  part.stage = Stage::collecting;
  part.exit = std::move(exit);
  part.kill_at = Instant::never();
  part.tell_again = Instant::never();
  part.capture_at = Instant::never();
  part.report.attempt = part.assignment.attempt;
  out.push_back(CollectOutputs{part.assignment});
  converge(part);
}

void Core::Impl::on(const OutputsProgress& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::collecting) return;
  const bool news = part->report.state != PartState::collecting;
  part->report.state = PartState::collecting;
  part->report.progress = input.text;
  changed(*part, news ? now : now + heartbeat);
}

void Core::Impl::on(const LogsCaptured& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::alive) return;
  part->logs = {input.logs};
  part->report.outputs = part->logs;
  changed(*part, now + heartbeat);
}

void Core::Impl::on(const OutputsCollected& input) {
  auto* part = find(input.attempt);
  if (part == nullptr || part->stage != Stage::collecting) return;
  part->report.outputs = input.outputs;
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
  part.stage = part.stage == Stage::staging ? Stage::discarding : Stage::ended;
  part.kill_at = Instant::never();
  part.tell_again = Instant::never();
  part.report.attempt = part.assignment.attempt;
  part.exit.reset();
  part.report.state = PartState::finished;
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
    if (part.stage != Stage::alive) continue;
    if (link == Link::open && now >= part.capture_at) {
      part.capture_at = now + config.logs_every;
      out.push_back(CaptureLogs{part.assignment});
    }
    if (now >= part.tell_again) {
      part.runner_told = !lags(part.report.state, part.assignment.phase);
      part.tell_again = Instant::never();
      converge(part);
    }
    if (now >= part.kill_at) {
      part.kill_at = now + kInsistEvery;
      part.killed = true;
      out.push_back(KillRunner{attempt});
    }
  }
}

// ---- the function ------------------------------------------------------------------------------

Part* Core::Impl::find(const AttemptId& attempt) {
  const auto found = parts.find(attempt);
  return found == parts.end() ? nullptr : &found->second;
}

Core::Core(Config config) : impl_(std::make_unique<Impl>(std::move(config))) {}
Core::~Core() = default;
Core::Core(Core&&) noexcept = default;
Core& Core::operator=(Core&&) noexcept = default;

std::vector<Action> Core::handle(Instant now, const Input& input) {
  auto& impl = *impl_;
  impl.now = now;
  impl.out.clear();
  std::visit([&](const auto& in) { impl.on(in); }, input);
  impl.run_part_timers();
  impl.run_link_timers();
  impl.send_observed();
  return std::move(impl.out);
}

Instant Core::next_deadline() const {
  const auto& impl = *impl_;
  Instant next = Instant::never();
  for (const auto& [attempt, part] : impl.parts) {
    if (part.stage == Stage::removing) next = std::min(next, part.remove_again);
    if (part.stage == Stage::alive) {
      next = std::min({next, part.tell_again, part.kill_at});
      if (impl.link == Link::open) next = std::min(next, part.capture_at);
    }
  }
  if (impl.link == Link::none || impl.link == Link::refused) return next;
  next = std::min({next, impl.next_beat, impl.last_word + impl.config.launcher_silent_after});
  if (impl.link == Link::open && !impl.unacked.empty()) next = std::min(next, impl.observe_at);
  return next;
}

std::vector<PartReport> Core::observed() const {
  std::vector<PartReport> reports;
  for (const auto& [attempt, part] : impl_->parts) reports.push_back(part.report);
  return reports;
}

}  // namespace lockstep::agent
