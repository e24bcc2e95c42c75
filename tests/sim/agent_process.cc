// One life of the agent of a node: its core, and what stands for its machine.

#include "tests/sim/node.h"

#include "tests/sim/cluster.h"

namespace lockstep::sim {

namespace {

agent::Config config_of(Cluster& cluster, const Node& node, const BootId& boot, SessionId session) {
  agent::Config config;
  config.look_every = seconds(10);  // each look costs the simulation an action
  config.node = node.id;
  config.boot = boot;
  config.session = session;
  config.stop_overdue = seconds(10);
  // So that answers which are late by much still find the session that they are for.
  if (cluster.weather.long_cuts) config.launcher_silent_after = seconds(20);
  return config;
}

}  // namespace

AgentProcess::AgentProcess(Cluster& cluster, Node& node, const BootId& boot, bool clone)
    : cluster_(cluster),
      node_(node),
      core_(config_of(cluster, node, boot, SessionId(0))),
      session_(session_id(static_cast<std::uint64_t>(cluster.world.now.ns / 1'000'000),
                          cluster.world.random.next())),
      boot_(boot),
      clone_(clone) {
  core_ = agent::Core(config_of(cluster, node, boot, session_));
}

void AgentProcess::later(Duration delay, std::function<void()> event) {
  cluster_.world.after(delay, [self = self_, event = std::move(event)] {
    const auto agent = self.lock();
    if (agent && !agent->dead_) event();
  });
}

void AgentProcess::start() {
  agent::Recovered recovered;
  using Found = agent::FoundPart::Runner;
  for (const auto& [attempt, files] : clone_ ? node_.clone_directories : node_.directories) {
    agent::FoundPart part;
    part.assignment = files.assignment;
    part.exit = files.final_report;
    part.restored = files.restored;
    part.lease_until = files.lease_until;
    if (!clone_) part.logs = cluster_.oracle.logs_on(attempt, node_.index);
    const auto runner = clone_ ? node_.runners.end() : node_.runners.find(attempt);
    const bool alive = runner != node_.runners.end() && !runner->second->dead();
    part.runner = files.final_report     ? Found::finished
                  : alive                ? Found::alive
                  : files.runner_started ? Found::gone
                                         : Found::never_started;
    if (part.runner == Found::alive) {  // the shell connects to its socket and is told its state
      later(cluster_.world.random.between(milliseconds(1), milliseconds(50)),
            [this, attempt = attempt] {
              const auto it = node_.runners.find(attempt);
              if (it != node_.runners.end() && !it->second->dead())
                give(agent::RunnerReported{attempt, it->second->report()});
            });
    }
    recovered.parts.push_back(std::move(part));
  }
  give(std::move(recovered));
  give(agent::Connected{});
}

void AgentProcess::hear(const AgentReply& message) { give(agent::FromLauncher{message}); }

void AgentProcess::give(agent::Input input) {
  if (dead_) return;
  if (stopped_) {
    waiting_.push_back(std::move(input));
    return;
  }
  handle(std::move(input));
}

void AgentProcess::stop_for(Duration duration) {
  if (stopped_) return;
  stopped_ = true;
  later(duration, [this] {
    stopped_ = false;
    while (!waiting_.empty() && !dead_) {
      auto input = std::move(waiting_.front());
      waiting_.pop_front();
      handle(std::move(input));
    }
    arm();
  });
}

void AgentProcess::handle(agent::Input input) {
  for (const auto& heard : cluster_.saboteur.agent_hears(std::move(input))) {
    auto actions = core_.handle(cluster_.world.now, heard);
    cluster_.saboteur.agent_acts(actions);
    for (const auto& action : actions) {
      if (dead_) return;
      perform(action);
    }
  }
  arm();
}

void AgentProcess::arm() {
  const Instant due = core_.next_deadline();
  if (dead_ || stopped_ || due == Instant::never() || armed_ <= due) return;
  armed_ = due;
  later(std::max(Duration(0), due - cluster_.world.now), [this, due] {
    if (armed_ != due) return;
    armed_ = Instant::never();
    if (!stopped_ && core_.next_deadline() <= cluster_.world.now) give(agent::Tick{});
    arm();
  });
}

void AgentProcess::perform(const agent::Action& action) {
  std::visit([this](const auto& a) { act(a); }, action);
}

void AgentProcess::act(const agent::SendSession& action) {
  SessionOpen open = action.open;
  open.inventory = node_.inventory();
  open.version = LOCKSTEP_VERSION;
  cluster_.world.trace("n{} opens session {:x} with {} parts", node_.index, open.session.value,
                       open.parts.size());
  cluster_.to_launcher(node_, clone_, launcher::SessionInput{node_.key, open});
}

void AgentProcess::act(const agent::SendHeartbeat& action) {
  auto& world = cluster_.world;
  if (!cluster_.winding_down && world.random.chance(cluster_.weather.low_disk)) {
    world.count("fault:low_disk");
    node_.disk_low_until = world.now + world.random.between(seconds(1), seconds(30));
  }
  Heartbeat beat = action.beat;
  if (world.now < node_.disk_low_until) beat.low_disk = DiskIsLow{gibibytes(1), "/home"};
  cluster_.to_launcher(node_, clone_, launcher::HeartbeatInput{node_.key, std::move(beat)});
}

void AgentProcess::act(const agent::SendObserved& action) {
  cluster_.to_launcher(node_, clone_, launcher::ObservedInput{node_.key, action.observed});
}

void AgentProcess::act(const agent::StageWorkspace& action) {
  auto& random = cluster_.world.random;
  auto& directories = clone_ ? node_.clone_directories : node_.directories;
  directories[action.assignment.attempt].assignment = action.assignment;
  const bool fails = clone_ || random.chance(cluster_.weather.staging_fails);
  Duration takes = random.between(milliseconds(5), milliseconds(500));
  if (random.chance(cluster_.weather.staging_slow)) {
    cluster_.world.count("fault:staging_slow");
    takes = random.between(seconds(5), seconds(60));
  }
  later(takes / 2, [this, attempt = action.assignment.attempt] {
    give(agent::StagingProgress{attempt, "fetching"});
  });
  later(takes, [this, fails, attempt = action.assignment.attempt] {
    if (fails && !clone_) cluster_.world.count("fault:staging_fails");
    agent::WorkspaceStaged staged{attempt, {}};
    auto& places = clone_ ? node_.clone_directories : node_.directories;
    const auto files = places.find(attempt);
    if (files != places.end() && files->second.assignment.checkpoint && !fails) {
      cluster_.oracle.restored(files->second.assignment);
      staged.restored.emplace();
      staged.restored->kind = OutputKind::checkpoint;
      staged.restored->tree = sha256("begin of " + to_string(attempt));
      files->second.restored = staged.restored;
    }
    if (fails) staged.result = make_error(ErrorCode::io, "no space left on device");
    give(std::move(staged));
  });
}

void AgentProcess::act(const agent::StartRunner& action) {
  const auto& assignment = action.assignment;
  auto& random = cluster_.world.random;
  auto& files = node_.directories[assignment.attempt];
  files.assignment = assignment;
  cluster_.oracle.runner_starts(assignment, node_.index);
  const bool fails = random.chance(cluster_.weather.start_fails);
  later(random.between(milliseconds(1), milliseconds(20)), [this, fails, assignment] {
    agent::RunnerStarted started{assignment.attempt, {}};
    if (fails) {
      cluster_.world.count("fault:start_fails");
      started.result = make_error(ErrorCode::io, "fork: out of memory");
      return give(std::move(started));
    }
    auto& slot = node_.runners[assignment.attempt];
    if (slot && !slot->dead())
      cluster_.world.violate("oracle:runners", "two runners of " + to_string(assignment.attempt) +
                                                   " live on one node");
    node_.directories[assignment.attempt].runner_started = true;
    slot = std::make_shared<Runner>(cluster_, node_, assignment);
    if (assignment.lease > Duration::zero()) cluster_.world.count("agent:start_with_lease");
    cluster_.runner_born(slot);
    slot->start();
    later(cluster_.world.random.between(milliseconds(1), milliseconds(10)),
          [this, started] { give(started); });
  });
}

void AgentProcess::act(const agent::UpdateRunner& action) {
  const auto& assignment = action.assignment;
  cluster_.world.trace("n{} tells runner {}: {}", node_.index, to_string(assignment.attempt),
                       to_string(assignment.phase));
  cluster_.oracle.runner_told(assignment, node_.id);
  node_.directories[assignment.attempt].assignment = assignment;
  if (cluster_.world.random.chance(cluster_.weather.runner_socket_loss)) {
    cluster_.world.count("fault:runner_socket_loss");
    return;
  }
  cluster_.world.after(cluster_.world.random.between(milliseconds(1), milliseconds(5)),
                       [this_node = &node_, assignment] {
                         const auto runner = this_node->runners.find(assignment.attempt);
                         if (runner != this_node->runners.end())
                           runner->second->give(runner::AssignmentChanged{assignment});
                       });
}

void AgentProcess::act(const agent::ShipLogs& action) {
  if (shipping_.insert(action.attempt).second) pump_logs(action.attempt);
}

void AgentProcess::pump_logs(const AttemptId& attempt) {
  auto& random = cluster_.world.random;
  Duration takes = random.between(milliseconds(20), milliseconds(400));
  if (random.chance(cluster_.weather.log_slow)) {
    cluster_.world.count("fault:log_slow");
    takes = random.between(seconds(2), seconds(20));
  }
  later(takes, [this, attempt] {
    const auto files = node_.directories.find(attempt);
    if (files == node_.directories.end()) return;
    const auto runner = node_.runners.find(attempt);
    const bool runs = runner != node_.runners.end() && !runner->second->dead();
    const bool over = files->second.final_report || (files->second.runner_started && !runs);
    if (over && !stopped_ && cluster_.deliver_logs(node_, attempt)) {
      cluster_.world.trace("logs of {} on n{} are durable", to_string(attempt), node_.index);
      return;
    }
    pump_logs(attempt);
  });
}

void AgentProcess::act(const agent::KillRunner& action) {
  const auto runner = node_.runners.find(action.attempt);
  if (runner == node_.runners.end() || clone_) return;
  const AttemptFiles& files = node_.directories[action.attempt];
  const bool done = files.final_report.has_value();
  const bool lease_over = files.assignment.lease > Duration::zero() &&
                          files.assignment.phase != WantedPhase::stop &&
                          files.lease_until <= cluster_.world.now;
  if (lease_over && !runner->second->dead()) cluster_.world.count("agent:lease_over");
  if (!runner->second->dead() && !done && !lease_over)
    cluster_.oracle.runner_killed(action.attempt,
                                  node_.directories[action.attempt].assignment.phase);
  cluster_.world.count("agent:kill_runner");
  runner->second->kill(true);
  cluster_.oracle.strays_changed(action.attempt, node_.index, 0);
}

void AgentProcess::act(const agent::RenewLease& action) {
  const auto files = node_.directories.find(action.attempt);
  if (files != node_.directories.end()) files->second.lease_until = action.until;
}

void AgentProcess::act(const agent::RemovePart& action) {
  const AttemptId attempt = action.attempt;
  collecting_.erase(attempt);
  no_space_since_.erase(attempt);
  settling_.erase(attempt);
  if (clone_) {
    node_.clone_directories.erase(attempt);
    return later(milliseconds(1), [this, attempt] { give(agent::PartRemoved{attempt}); });
  }
  const auto runner = node_.runners.find(attempt);
  if (runner != node_.runners.end()) {
    runner->second->kill(true);
    node_.runners.erase(runner);
  }
  later(cluster_.world.random.between(milliseconds(1), milliseconds(100)), [this, attempt] {
    node_.directories.erase(attempt);
    shipping_.erase(attempt);
    give(agent::PartRemoved{attempt});
  });
}

void AgentProcess::act(const agent::Reconnect&) {
  cluster_.world.count("agent:reconnect");
  later(cluster_.world.random.between(milliseconds(10), milliseconds(200)),
        [this] { give(agent::Connected{}); });
}

void AgentProcess::act(const agent::LeaveMachine&) {
  cluster_.world.trace("agent of n{} leaves its machine", node_.index);
  cluster_.world.count("agent:leaves_machine");
  if (!core_.observed().empty() && cluster_.world.now < node_.taken_until)
    cluster_.world.violate("oracle:taken", "the agent of a machine with time left leaves parts");
  dead_ = true;
}

void AgentProcess::act(const agent::ExitAgent& action) {
  cluster_.world.trace("agent of n{} leaves: {}", node_.index, action.reason);
  const bool removed = action.reason.find("was removed from") != std::string::npos;
  cluster_.world.count(clone_    ? "agent:clone_refused"
                       : removed ? "agent:removed"
                                 : "agent:refused");
  dead_ = true;
  if (clone_) return;
  if (removed) {
    if (!core_.observed().empty())
      cluster_.world.violate("oracle:removed", "the agent of a removed node left parts behind");
    node_.join_anew();
    return;
  }
  cluster_.world.after(seconds(15), [this_node = &node_, self = self_] {
    const auto agent = self.lock();
    if (this_node->up && agent && this_node->agent == agent) this_node->start_agent();
  });
}

}  // namespace lockstep::sim
