#include "agent/core/core.h"

#include "agent/core/impl.h"
#include "common/base/check.h"
#include "common/domain/why/ranks/parts.h"

namespace lockstep::agent {

using Stage = Part::Stage;

// ---- session -----------------------------------------------------------------------------------

namespace {

constexpr int kMostDoublings = 4;  // how often launcher_silent_after is doubled at most
// How often the time between two SessionOpen messages is doubled at most.
constexpr int kMostOpenings = 2;
constexpr int kReconnectSpreads = 3;

// A number from 0 to 1 that differs for each agent start and attempt: splitmix64's finalizer.
double share_of(SessionId session, int attempt) {
  std::uint64_t x = session.value + static_cast<std::uint64_t>(attempt + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return static_cast<double>((x ^ x >> 31) >> 11) / static_cast<double>(1ULL << 53);
}

}  // namespace

// When thousands of nodes make a launcher slow, new handshakes would make it slower. Meanwhile the
// kernel finds out whether the connection is dead: heartbeats go unacknowledged.
Duration Core::Impl::silence_limit() const {
  const Duration least =
      std::max(config.launcher_silent_after * (1 << std::min(unanswered, kMostDoublings)),
               reconnect_within * kReconnectSpreads);
  const auto spread = static_cast<double>(reconnect_within.count());
  return least + Duration(static_cast<std::int64_t>(spread * share_of(config.session, unanswered)));
}

void Core::Impl::open_session() {
  if (link == Link::refused) return;
  if (link != Link::opening) last_word = now;
  link = Link::opening;
  next_beat = now + heartbeat * (1 << std::min(openings++, kMostOpenings));
  SessionOpen open;
  open.node = config.node;
  open.boot = config.boot;
  open.session = config.session;
  open.desired_revision = revision.value_or(0);
  open.answers = answers;
  open.notice = notice();
  for (const auto& [attempt, part] : parts) open.parts.push_back(part.report);
  out.push_back(SendSession{std::move(open)});
}

void Core::Impl::on(const FromLauncher& input) {
  if (link == Link::none || link == Link::refused) return;
  std::visit(
      [this](const auto& message) {
        if constexpr (AboutSession<std::decay_t<decltype(message)>>) {
          // The message was meant for an earlier start of this agent.
          if (message.session != config.session) return;
          last_word = now;
          unanswered = openings = 0;
          hear(message);
        }
      },
      input.message);
}

void Core::Impl::hear(const SessionAccepted& message) {
  if (message.heartbeat_interval.count() > 0) heartbeat = message.heartbeat_interval;
  reconnect_within = std::max(message.reconnect_within, Duration::zero());
  if (link == Link::opening) {
    link = Link::open;
    next_beat = now + heartbeat;
    observe_at = now;
  }
  begins_session = true;
  apply(message.desired);
  begins_session = false;
}

void Core::Impl::hear(const SessionRefused& message) {
  link = Link::refused;
  if (!message.removed) {
    out.push_back(ExitAgent{message.reason});
    return;
  }
  // The launcher has removed this node, so the agent itself must end what runs here.
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
  if (now - last_word >= silence_limit()) {
    link = Link::none;
    ++unanswered;
    out.push_back(Reconnect{});
    return;
  }
  if (now < next_beat) return;
  if (link == Link::opening) return open_session();
  next_beat = now + heartbeat;
  Heartbeat beat{config.node, config.session, revision.value_or(0), unacked.sequence(),
                 beats.sent(now)};
  beat.notice = notice();
  if (taken && taken->told_in == 0) taken->told_in = beat.number;
  out.push_back(SendHeartbeat{std::move(beat)});
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
  if (revision && desired.revision <= *revision) return;  // the message was overtaken or came twice
  revision = desired.revision;
  for (auto& [attempt, part] : parts) part.wanted = false;
  for (const auto& assignment : desired.assignments) want(assignment);
  for (auto& [attempt, part] : parts) converge(part);
  if (desired.environments_unused_since <= pruned) return;
  pruned = desired.environments_unused_since;
  out.push_back(PruneUnused{pruned});
}

void Core::Impl::want(const Assignment& assignment) {
  if (auto* part = find(assignment.attempt)) {
    part->wanted = true;
    const bool canceled =
        assignment.phase == WantedPhase::stop && assignment.stop_reason == StopReason::canceled;
    if (canceled && !part->canceled_at) part->canceled_at = now;
    const bool more = part->assignment.environment != assignment.environment;
    part->assignment.environment = assignment.environment;
    if (more && part->stage == Stage::equipping)
      out.push_back(PrepareEnvironment{part->assignment});
    part->assignment.credential = assignment.credential;
    // Secrets are in no file, so an assignment that was read from a file lacks them.
    if (assignment.secrets && !part->assignment.secrets) {
      part->assignment.secrets = assignment.secrets;
      must_tell(*part);
    }
    if (assignment.phase <= part->assignment.phase) return;
    part->assignment = assignment;
    must_tell(*part);
    return;
  }
  Part part;
  part.assignment = assignment;
  part.stage = Stage::found;
  part.report.attempt = assignment.attempt;
  // The answer to this heartbeat renews the lease.
  if (assignment.lease > Duration::zero()) next_beat = now;
  const bool full = parts.size() >= kMaxHeldParts;
  auto& held = parts.emplace(assignment.attempt, std::move(part)).first->second;
  changed(held, now);
  if (full)
    end(held,
        unreported_exit(Cause::start_failed, HoldsMostParts{static_cast<int>(kMaxHeldParts)}, now));
}

void Core::Impl::converge(Part& part) {
  if (!revision) return;
  switch (part.stage) {
    case Stage::found:
      if (!part.wanted) return remove(part);
      if (part.assignment.phase == WantedPhase::stop)
        return end(part, unreported_exit(Cause::canceled, StoppedEarly{false}, now));
      part.stage = Stage::staging;
      out.push_back(StageWorkspace{part.assignment});
      return;
    case Stage::staging:
    case Stage::staged:
    case Stage::equipping:
      if (part.wanted && part.assignment.phase != WantedPhase::stop) return;
      return end(part, unreported_exit(Cause::canceled, StoppedEarly{true}, now));
    case Stage::discarding:
    case Stage::starting:
    case Stage::removing: return;  // the work in progress reports its result first
    case Stage::alive: return converge_alive(part);
    // The launcher no longer wants this part, and would refuse its results.
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
    // The launcher gave the part up while this agent was away. It refuses further output of the
    // part, and waits for its end.
    if (begins_session) wanted.grace = Duration::zero();
    must_tell(part);
  }
  if (wanted.phase == WantedPhase::stop) part.capture_at = part.checkpoint_at = Instant::never();
  if (wanted.phase == WantedPhase::stop)
    part.kill_at = std::min(part.kill_at, now + wanted.grace + config.stop_overdue);
  switch (part.told) {
    case Part::Told::all:
    case Part::Told::sent: return;
    case Part::Told::nothing:
      have_told(part, now + kTellEvery);
      out.push_back(UpdateRunner{wanted});
      return;
  }
}

void Core::Impl::remove(Part& part) {
  part.stage = Stage::removing;
  part.remove_again = now + kInsistEvery;
  out.push_back(RemovePart{part.assignment.attempt});
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
  impl.leave_if_taken();
  return std::move(impl.out);
}

Instant Core::next_deadline() const {
  const auto& impl = *impl_;
  Instant next = impl.leave_at();
  for (const auto& [attempt, part] : impl.parts) {
    if (part.stage == Stage::removing) next = std::min(next, part.remove_again);
    next = std::min(next, settles_at(part, impl.config.space_timeout));
    if (part.stage == Stage::alive) {
      next = std::min({next, part.look_again, part.kill_at});
      if (impl.link == Link::open) next = std::min({next, part.capture_at, part.checkpoint_at});
      const bool ends =
          part.assignment.lease > Duration::zero() && part.killed != Part::Killed::lease_over;
      if (ends) next = std::min(next, part.lease_until);
    }
  }
  if (impl.link == Link::none || impl.link == Link::refused) return next;
  next = std::min({next, impl.next_beat, impl.last_word + impl.silence_limit()});
  if (impl.link == Link::open && !impl.unacked.empty()) next = std::min(next, impl.observe_at);
  return next;
}

std::vector<PartReport> Core::observed() const {
  std::vector<PartReport> reports;
  for (const auto& [attempt, part] : impl_->parts) reports.push_back(part.report);
  return reports;
}

}  // namespace lockstep::agent
