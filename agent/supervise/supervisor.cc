#include "agent/supervise/supervisor.h"

#include <spdlog/spdlog.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "agent/supervise/quarantine.h"
#include "agent/supervise/recovery.h"
#include "common/wire/runners/runner_codec.h"

namespace lockstep::agent {
namespace {

constexpr int kRemovers = 2;
constexpr Duration kUseAllowance = seconds(2);

Status write_assignment(const io::AttemptDir& directory, const Assignment& assignment) {
  const std::string bytes = wire::encode(assignment);
  if (io::read_file(directory.assignment()) == bytes) return {};  // unchanged since it was staged
  // The file need not be durable: a power cut ends the runner and the part as well.
  return io::write_file_atomically(directory.assignment(), bytes, 0600, false);
}

Result<io::ProcessIdentity> start_runner(RunnerStarter& starter, const io::AttemptDir& directory,
                                         const Assignment& assignment,
                                         const std::shared_ptr<const std::string>& fabric) {
  if (const auto living = find_runner(directory)) return *living;
  TRY(io::make_directories(directory.logs()));
  TRY(write_assignment(directory, assignment));
  if (fabric) TRY(io::write_file_atomically(directory.fabric(), *fabric, 0600, false));
  return starter.start(directory);
}

}  // namespace

Supervisor::Supervisor(io::EventLoop& loop, Workers& workers, AgentHome home, RunnerProgram runner,
                       Emit emit)
    : loop_(loop),
      workers_(workers),
      home_(std::move(home)),
      use_lasts_(3 * runner.sample_every + kUseAllowance),
      starter_(std::make_shared<RunnerStarter>(std::move(runner), home_.attempts())),
      emit_(std::move(emit)),
      inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      removers_(kRemovers) {
  starter_->keep_template();
  // Without inotify (its per-user limit is reached) the dialling timer finds the sockets, a bit
  // later.
  if (!inotify_) return;
  loop_.watch(inotify_.get(), io::EventLoop::Interest::read, [this] { on_directory_change(); });
}

Supervisor::~Supervisor() {
  *alive_ = false;
  if (inotify_) loop_.unwatch(inotify_.get(), io::EventLoop::Interest::read);
}

Recovered Supervisor::recover(bool same_boot) {
  Recovered recovered;
  std::vector<RecoveredPart> found = find_parts(home_, same_boot);
  if (same_boot) end_unknown(unknown_runners(home_, found));
  for (RecoveredPart& part : found) {
    const AttemptId attempt = part.found.assignment.attempt;
    if (part.runner) attach(attempt, *part.runner);
    recovered.parts.push_back(std::move(part.found));
  }
  return recovered;
}

// Ends unknown runners, each of which may take seconds to end, or never end.
void Supervisor::end_unknown(std::vector<io::Runner> unknown) {
  if (unknown.empty()) return;
  held_starts_.emplace();
  workers_.submit([this, alive = alive_, unknown = std::move(unknown), &loop = loop_] {
    for (const io::Runner& runner : unknown)
      if (const Status ended = io::end_runner(runner); !ended)
        spdlog::error("{}", ended.error().message);
    loop.post([this, alive] {
      if (!*alive) return;
      const auto held = *std::exchange(held_starts_, std::nullopt);
      for (const Assignment& assignment : held) start_now(assignment);
    });
  });
}

void Supervisor::use_fabric(const NodeFabric& fabric) {
  fabric_ = std::make_shared<const std::string>(wire::encode(fabric));
}

void Supervisor::start(const Assignment& assignment) {
  if (held_starts_) return held_starts_->push_back(assignment);
  start_now(assignment);
}

void Supervisor::start_now(const Assignment& assignment) {
  const AttemptId attempt = assignment.attempt;
  parts_[attempt];
  watch_directory(attempt);
  workers_.submit([this, alive = alive_, attempt, assignment, starter = starter_, fabric = fabric_,
                   directory = home_.attempt(attempt), &loop = loop_] {
    auto result = start_runner(*starter, directory, assignment, fabric);
    loop.post([this, alive, attempt, result = std::move(result)] {
      if (*alive) started(attempt, result);
    });
  });
}

void Supervisor::started(const AttemptId& attempt, Result<io::ProcessIdentity> result) {
  if (!result) {
    emit_(RunnerStarted{attempt, result.error()});
    return;
  }
  emit_(RunnerStarted{attempt, {}});
  attach(attempt, *result);
}

void Supervisor::attach(const AttemptId& attempt, const io::ProcessIdentity& identity) {
  Part& part = parts_[attempt];
  RunnerProcess::Events events;
  events.on_report = [this, attempt](PartReport report) {
    const auto found = parts_.find(attempt);
    if (found == parts_.end()) return;
    found->second.last_report = report;
    emit_(RunnerReported{attempt, std::move(report)});
  };
  events.on_use = [this, attempt](PartUse use) {
    const auto found = parts_.find(attempt);
    if (found == parts_.end()) return;
    use.attempt = attempt;
    found->second.use = std::move(use);
    found->second.use_at = clock_.now();
  };
  events.on_attach = [this, attempt](const AttachFrame& frame) {
    if (attach_.received) attach_.received(attempt, frame);
  };
  events.on_death = [this, alive = alive_, attempt] {
    if (*alive) on_death(attempt);
  };
  watch_directory(attempt);
  part.process =
      std::make_unique<RunnerProcess>(loop_, home_.attempt(attempt), identity, std::move(events));
  part.process->dial({});
}

std::vector<PartUse> Supervisor::uses() {
  std::vector<PartUse> all;
  const Instant now = clock_.now();
  for (const auto& [attempt, part] : parts_)
    if (part.process && part.use && now - part.use_at <= use_lasts_) all.push_back(*part.use);
  return all;
}

void Supervisor::update(const Assignment& assignment) {
  const io::AttemptDir directory = home_.attempt(assignment.attempt);
  if (const Status written = write_assignment(directory, assignment); !written) {
    spdlog::error("{}", written.error().message);
  }
  const auto found = parts_.find(assignment.attempt);
  if (found != parts_.end() && found->second.process) found->second.process->update(assignment);
}

void Supervisor::logs_taken(const AttemptId& attempt, const std::vector<LogSize>& logs) {
  const auto found = parts_.find(attempt);
  if (found != parts_.end() && found->second.process) found->second.process->logs_taken(logs);
}

void Supervisor::end(const AttemptId& attempt, const EndPart& order) {
  const auto found = parts_.find(attempt);
  if (found != parts_.end() && found->second.process) found->second.process->end(order);
}

bool Supervisor::is_running(const AttemptId& attempt) const {
  const auto found = parts_.find(attempt);
  return found != parts_.end() && found->second.process;
}

bool Supervisor::takes_frames(const AttemptId& attempt) const {
  const auto found = parts_.find(attempt);
  return found != parts_.end() && found->second.process && found->second.process->is_connected();
}

void Supervisor::attach(const AttemptId& attempt, const AttachFrame& frame) {
  const auto found = parts_.find(attempt);
  if (found != parts_.end() && found->second.process) found->second.process->attach(frame);
}

void Supervisor::kill(const AttemptId& attempt) {
  const auto found = parts_.find(attempt);
  if (found == parts_.end() || !found->second.process) return clean(attempt, {}, [] {});
  spdlog::warn("killing the runner of {}", to_string(attempt));
  if (const Status killed = found->second.process->kill(); !killed) {
    spdlog::error("{}", killed.error().message);
  }
}

void Supervisor::on_death(const AttemptId& attempt) {
  const auto found = parts_.find(attempt);
  if (found == parts_.end() || !found->second.process) return;
  // The process object owns the handler that is running now, so it is destroyed after this turn of
  // the loop.
  std::shared_ptr<RunnerProcess> process = std::move(found->second.process);
  loop_.post([process] {});
  if (attach_.gone) attach_.gone(attempt);
  auto report = read_final_report(home_.attempt(attempt));
  if (report) {
    PartReport last = found->second.last_report;
    last.attempt = attempt;
    last.state = PartState::finished;
    last.exit = *std::move(report);
    emit_(RunnerReported{attempt, std::move(last)});
    run_removal_if_asked(found->second, attempt);
    return;
  }
  if (report.error().code != ErrorCode::not_found) spdlog::error("{}", report.error().message);
  const std::string path = home_.attempt(attempt).path();
  const std::string removed = io::exists(path) ? "" : path;
  // The runner's end is reported after all processes that it supervised are removed.
  clean(attempt, process->identity(), [this, attempt, removed] {
    const io::AttemptDir directory = home_.attempt(attempt);
    emit_(RunnerGone{attempt, log_sizes(directory), removed.empty() ? last_words(directory) : "",
                     io::read_started(directory), size_of_times(directory), removed});
  });
}

void Supervisor::clean(const AttemptId& attempt, const io::ProcessIdentity& runner,
                       std::function<void()> then) {
  workers_.submit([this, alive = alive_, attempt, then = std::move(then),
                   dead = io::Runner{runner, home_.attempt(attempt).path()}, &loop = loop_] {
    const Status status = io::remove_cgroups(dead);
    loop.post([this, alive, attempt, then, status] {
      if (!*alive) return;
      if (!status) spdlog::error("{}: {}", to_string(attempt), status.error().message);
      then();
      const auto found = parts_.find(attempt);
      if (found != parts_.end()) run_removal_if_asked(found->second, attempt);
    });
  });
}

void Supervisor::remove(const AttemptId& attempt) {
  Part& part = parts_[attempt];
  switch (part.removal) {
    case Removal::not_asked: part.removal = Removal::asked; break;
    case Removal::asked:
      // The runner reported its end and leaves by itself in a moment. If the core asks again, it
      // did not leave.
      if (part.process) kill(attempt);
      break;
    case Removal::running: return;
  }
  run_removal_if_asked(part, attempt);
}

void Supervisor::run_removal_if_asked(Part& part, const AttemptId& attempt) {
  if (part.process || part.removal != Removal::asked) return;
  part.removal = Removal::running;
  removers_.submit([this, alive = alive_, attempt, home = home_, &loop = loop_] {
    const Status status =
        remove_or_set_aside(home, home.attempt(attempt), io::former_mount_point(attempt));
    loop.post([this, alive, attempt, status] {
      if (!*alive) return;
      if (!status) {  // the core asks again later
        parts_[attempt].removal = Removal::asked;
        spdlog::error("{}: {}", to_string(attempt), status.error().message);
        return;
      }
      parts_.erase(attempt);
      emit_(PartRemoved{attempt});
    });
  });
}

void Supervisor::watch_directory(const AttemptId& attempt) {
  if (!inotify_) return;
  const std::string path = home_.attempt(attempt).path();
  const int watch = ::inotify_add_watch(inotify_.get(), path.c_str(), IN_MOVED_TO | IN_ONLYDIR);
  if (watch >= 0) watched_[watch] = attempt;
}

void Supervisor::on_directory_change() {
  alignas(inotify_event) char buffer[16384];
  for (;;) {
    const ssize_t got = ::read(inotify_.get(), buffer, sizeof buffer);
    if (got <= 0) return;
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      at += static_cast<ssize_t>(sizeof *event + event->len);
      const auto watched = watched_.find(event->wd);
      if (watched == watched_.end()) continue;
      const AttemptId attempt = watched->second;
      if ((event->mask & IN_IGNORED) != 0) watched_.erase(watched);
      const auto part = parts_.find(attempt);
      const bool socket =
          event->len > 0 && home_.attempt(attempt).control_socket_name() == event->name;
      if (socket && part != parts_.end() && part->second.process) part->second.process->dial({});
    }
  }
}

Instant Supervisor::next_deadline() const {
  Instant next = empty_quarantine_at_;
  for (const auto& [attempt, part] : parts_) {
    if (part.process) next = std::min(next, part.process->next_dial());
  }
  return next;
}

void Supervisor::tick(Instant now) {
  if (empty_quarantine_at_ <= now) {
    empty_quarantine_at_ = now + kQuarantineRetry;
    removers_.submit([home = home_] { empty_quarantine(home); });
  }
  for (auto& [attempt, part] : parts_) {
    if (part.process && part.process->next_dial() <= now) part.process->dial(now);
  }
}

}  // namespace lockstep::agent
