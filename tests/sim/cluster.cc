#include "tests/sim/cluster.h"

#include <algorithm>
#include <cmath>

#include "launcher/words/why.h"

namespace lockstep::sim {

namespace {

// How long the world may take to come to rest once the faults are over: the longest waits of the
// launcher (reconnect grace, preparing, logs, grace times, retries) fit several times.
constexpr Duration kRestWithin = seconds(900);

}  // namespace

Cluster::Cluster(std::uint64_t seed, Defect defect, bool trace)
    : world(seed, trace),
      weather(draw_weather(world.random)),
      saboteur(defect),
      launcher(*this),
      oracle(world, launcher.committed()),
      workload(*this) {
  const int count = world.random.between(1, 4);
  for (int i = 0; i < count; ++i) nodes.push_back(std::make_unique<Node>(*this, i));
  oracle.set_calm(weather.calm);
  oracle.set_kept_for(weather.keep_jobs_for);
}

Cluster::~Cluster() = default;

void Cluster::run() {
  launcher.start();
  workload.begin();
  start_faults();
  const Duration stormy = world.random.between(seconds(30), seconds(90));
  world.after(stormy, [this] { wind_down(); });
  Instant rest_by = World::kStart + stormy + kRestWithin;
  bool shutting_down = false;
  while (!world.violation && world.step()) {
    if (launcher.left()) break;
    if (!winding_down || world.steps() % 16 != 0) continue;
    if (!shutting_down && at_rest()) {
      launcher.check_replay();
      shutting_down = true;
      workload.shut_down();
    }
    if (world.now > rest_by)
      world.violate("liveness", "the faults are over, but not at rest:" + restless());
  }
}

// ---- network -----------------------------------------------------------------------------------

void Cluster::carry(std::function<void()> arrival, bool may_be_late) {
  auto& random = world.random;
  if (random.chance(weather.drop)) return world.count("fault:net_drop");
  Duration way = random.between(milliseconds(1), milliseconds(8));
  if (random.chance(weather.slow)) {
    world.count("fault:net_slow");
    way = random.between(milliseconds(10), weather.slow_most);
    if (may_be_late && random.chance(0.1)) {
      world.count("fault:net_late");
      way = random.between(seconds(5), seconds(20));
    }
  }
  if (random.chance(weather.duplicate)) {
    world.count("fault:net_duplicate");
    world.after(way + random.between(milliseconds(0), weather.slow_most), arrival);
  }
  world.after(way, std::move(arrival));
}

void Cluster::over_network(std::function<void()> arrival) { carry(std::move(arrival), false); }

void Cluster::to_launcher(Node& from, bool from_clone, launcher::Input input) {
  if ((from.partitioned || from.mute) && !from_clone) return;
  carry([this, input = std::move(input)] { launcher.deliver(input); }, true);
}

void Cluster::to_agent(NodeId node, AgentReply message) {
  const int index = oracle.node_index(node);
  if (index < 0) return;
  to_agent_with_key(nodes[static_cast<std::size_t>(index)]->key, std::move(message));
}

void Cluster::to_agent_with_key(const PublicKey& key, AgentReply message) {
  for (auto& node : nodes) {
    const bool cut = node->partitioned || node->deaf;
    if (node->key != key || (cut && !node->clone)) continue;
    carry([raw = node.get(), message = std::move(message)] { raw->hear(message); }, true);
    return;
  }
}

bool Cluster::linked(const Node& a, NodeId b) const {
  const int index = oracle.node_index(b);
  if (index < 0) return false;
  const Node& other = *nodes[static_cast<std::size_t>(index)];
  return a.up && !a.partitioned && other.up && !other.partitioned;
}

bool Cluster::has_no_space(double chance) {
  if (!winding_down && world.random.chance(chance)) {
    world.count("fault:no_space");
    if (world.now >= no_space_until) ++no_space_episode;
    no_space_until =
        std::max(no_space_until, world.now + world.random.between(seconds(1), seconds(90)));
  }
  return world.now < no_space_until;
}

bool Cluster::deliver_logs(Node& node, const AttemptId& attempt) {
  if (!node.reachable() || !launcher.up()) return false;
  if (has_no_space(weather.no_space_for_logs)) {
    world.count("launcher:refuses_logs");
    launcher.logs_refused(attempt, node.id, no_space_episode);
    return false;
  }
  oracle.logs_became_durable(attempt, node.id);
  launcher.logs_arrived(attempt, node.id);
  return true;
}

// ---- runners -----------------------------------------------------------------------------------

std::shared_ptr<Runner> Cluster::runner_at(std::uint16_t port) {
  for (auto& weak : runners_)
    if (auto runner = weak.lock(); runner && !runner->dead() && runner->port() == port)
      return runner;
  return nullptr;
}

std::vector<std::shared_ptr<Runner>> Cluster::peers_of(const Runner& of) {
  std::vector<std::shared_ptr<Runner>> peers;
  for (auto& weak : runners_)
    if (auto runner = weak.lock();
        runner && !runner->dead() && runner.get() != &of && runner->attempt() == of.attempt())
      peers.push_back(std::move(runner));
  return peers;
}

void Cluster::runner_reports(Node& node, Runner& runner, const PartReport& report) {
  const AttemptId attempt = runner.attempt();
  Duration way = world.random.between(milliseconds(1), milliseconds(5));
  if (world.random.chance(weather.runner_socket_loss)) {
    // The connection broke; with the next one the runner says all it has to say again.
    world.count("fault:runner_socket_loss");
    way = world.random.between(milliseconds(200), milliseconds(1500));
  }
  world.after(way, [&node, attempt, report] {
    if (node.up && node.agent && !node.agent->dead())
      node.agent->give(agent::RunnerReported{attempt, report});
  });
}

void Cluster::runner_gone(Runner& gone) {
  const AttemptId attempt = gone.attempt();
  for (auto& weak : runners_) {
    const auto peer = weak.lock();
    if (peer && !peer->dead() && peer->attempt() == attempt) peer->peer_died(gone.node_rank());
  }
  for (auto& node : nodes) {
    const auto it = node->runners.find(attempt);
    if (it == node->runners.end() || it->second.get() != &gone) continue;
    world.after(world.random.between(milliseconds(1), milliseconds(10)),
                [raw = node.get(), attempt] { raw->runner_ended(attempt); });
  }
}

void Cluster::aftermath(Runner& gone, bool rebooted) {
  if (!plan_of(gone.attempt().job).coupled) return;
  for (auto& weak : runners_) {
    const auto peer = weak.lock();
    if (peer && !peer->dead() && peer.get() != &gone && peer->attempt() == gone.attempt())
      peer->wait_for_aftermath(rebooted);
  }
}

std::shared_ptr<Runner> Cluster::some_runner() {
  std::vector<std::shared_ptr<Runner>> live;
  for (auto& weak : runners_)
    if (auto runner = weak.lock(); runner && !runner->dead()) live.push_back(std::move(runner));
  if (live.empty()) return nullptr;
  return live[static_cast<std::size_t>(world.random.between(0, static_cast<int>(live.size()) - 1))];
}

// ---- faults ------------------------------------------------------------------------------------

void Cluster::now_and_then(double mean_seconds, const char* name, Fault fault) {
  if (mean_seconds <= 0) return;
  const double wait = -std::log(1.0 - world.random.unit()) * mean_seconds;
  world.after(milliseconds(1 + static_cast<int>(wait * 1000)), [this, mean_seconds, name, fault] {
    if (winding_down) return;
    (this->*fault)();
    now_and_then(mean_seconds, name, fault);
  });
}

void Cluster::start_faults() {
  now_and_then(weather.launcher_crash, "launcher_crash", &Cluster::crash_launcher);
  now_and_then(weather.launcher_stop, "launcher_stop", &Cluster::stop_launcher);
  now_and_then(weather.agent_crash, "agent_crash", &Cluster::crash_agent);
  now_and_then(weather.agent_stop, "agent_stop", &Cluster::stop_agent);
  now_and_then(weather.runner_crash, "runner_crash", &Cluster::crash_runner);
  now_and_then(weather.spawn_crash, "spawn_crash", &Cluster::crash_spawn);
  now_and_then(weather.reboot, "reboot", &Cluster::reboot_node);
  now_and_then(weather.partition, "partition", &Cluster::cut_off_node);
  now_and_then(weather.clone, "clone", &Cluster::clone_node);
  now_and_then(weather.drain, "drain", &Cluster::drain_node);
  now_and_then(weather.remove, "remove_node", &Cluster::remove_node);
  now_and_then(weather.revoke, "revoke_node", &Cluster::revoke_node);
  now_and_then(weather.detach, "detach_host", &Cluster::detach_host);
  now_and_then(weather.take, "take_machine", &Cluster::take_machine);
}

void Cluster::restart_launcher_later() {
  if (restart_planned_) return;
  restart_planned_ = true;
  const Duration down = world.random.chance(0.6)
                            ? world.random.between(milliseconds(50), seconds(2))
                            : world.random.between(seconds(2), seconds(20));
  world.after(down, [this] {
    restart_planned_ = false;
    launcher.start();
  });
}

void Cluster::crash_launcher() {
  if (!launcher.up()) return;
  world.count("fault:launcher_crash");
  launcher.crash();
}

void Cluster::stop_launcher() {
  if (!launcher.up()) return;
  world.count("fault:launcher_stop");
  launcher.stop_for(world.random.between(seconds(1), seconds(25)));
}

void Cluster::crash_agent() {
  Node& node = some_node();
  if (!node.up || !node.agent || node.agent->dead()) return;
  world.count("fault:agent_crash");
  world.trace("agent of n{} dies", node.index);
  node.kill_agent();
  const bool twice = world.random.chance(0.3);
  const Duration down = world.random.between(milliseconds(20), seconds(8));
  world.after(down, [&node] { node.start_agent(); });
  if (!twice) return;
  world.after(down + world.random.between(milliseconds(0), milliseconds(200)), [this, &node] {
    world.count("fault:agent_crash_twice");
    node.kill_agent();
    world.after(milliseconds(100), [&node] { node.start_agent(); });
  });
}

void Cluster::stop_agent() {
  Node& node = some_node();
  if (!node.up || !node.agent || node.agent->dead()) return;
  world.count("fault:agent_stop");
  node.agent->stop_for(world.random.between(seconds(1), seconds(15)));
}

void Cluster::crash_runner() {
  const auto runner = some_runner();
  if (!runner) return;
  world.count("fault:runner_crash");
  world.trace("runner {} dies", to_string(runner->attempt()));
  runner->kill(world.random.chance(0.5));
}

void Cluster::crash_spawn() {
  const auto runner = some_runner();
  if (!runner) return;
  world.count("fault:spawn_crash");
  runner->kill_spawn();
}

void Cluster::reboot_node() {
  Node& node = some_node();
  if (!node.up || node.id.value == 0) return;
  const bool fast = world.random.chance(0.5);
  world.count(fast ? "fault:reboot_fast" : "fault:reboot");
  node.reboot(fast ? world.random.between(milliseconds(50), milliseconds(900))
                   : world.random.between(seconds(1), seconds(30)));
}

// Somebody takes the machine away, and says so before. Another one comes in its place, or the
// notice was wrong.
void Cluster::take_machine() {
  Node& node = some_node();
  if (!node.up || node.id.value == 0 || !node.agent || node.agent->dead()) return;
  if (world.now < node.taken_until) return;
  world.count("fault:take_machine");
  const Duration left = world.random.between(milliseconds(500), seconds(25));
  const bool leave = world.random.chance(0.5);
  world.trace("n{} is taken away in {}", node.index, format_duration(left));
  node.taken_until = world.now + left;
  node.notice_stays = !leave;
  node.agent->give(agent::MachineTaken{left, "somebody takes it", leave});
  const Duration down = world.random.between(milliseconds(500), seconds(20));
  const bool stays = world.random.chance(0.1);
  world.after(left, [&node, stays, down, boots = node.boots] {
    if (node.boots != boots) return;  // it was rebooted before
    if (!stays) return node.reboot(down);
    node.kill_agent();
    node.start_agent();
  });
}

void Cluster::cut_off_node() {
  const Duration least = weather.long_cuts ? Duration(seconds(12)) : Duration(milliseconds(500));
  const Duration duration = world.random.between(least, least + seconds(25));
  if (world.random.chance(0.4)) {
    world.count("fault:partition_one_way");
    return some_node().cut_one_way(duration);
  }
  world.count("fault:partition");
  some_node().partition_for(duration);
}

void Cluster::clone_node() {
  world.count("fault:clone");
  some_node().clone_for(world.random.between(seconds(5), seconds(40)));
}

void Cluster::drain_node() {
  Node& node = some_node();
  if (node.id.value == 0) return;
  world.count("fault:drain");
  const auto name = "n" + std::to_string(node.index);
  workload.drain(name, true);
  world.after(world.random.between(seconds(1), seconds(20)), [this, name] {
    if (!winding_down) workload.drain(name, false);
  });
}

// A person asks for it whatever the node's state; it joins again when its agent was told.
void Cluster::remove_node() {
  Node& node = some_node();
  if (node.id.value == 0 || !launcher.up()) return;
  const auto view = launcher.core()->node_view(std::to_string(node.id.value));
  if (!view || (view->liveness == Liveness::alive && world.random.chance(0.9))) return;
  world.count("fault:remove_node");
  workload.ask(launcher::RemoveNodeInput{{}, std::to_string(node.id.value)},
               "remove n" + std::to_string(node.index));
}

// Its key is stolen, a person thinks: `node revoke --now`. Its agent is told, and joins again with
// another key.
void Cluster::revoke_node() {
  Node& node = some_node();
  if (node.id.value == 0 || !launcher.up()) return;
  world.count("fault:revoke_node");
  oracle.client_revokes(node.id);
  workload.ask(launcher::RemoveNodeInput{{}, std::to_string(node.id.value), {}, true},
               "revoke n" + std::to_string(node.index));
}

// It is attached again later.
void Cluster::detach_host() {
  Node& node = some_node();
  if (!workload.is_machine(node)) return;
  world.count("fault:detach_host");
  const bool force = world.random.chance(0.3);
  if (force) oracle.client_detaches_by_force(node.index);
  workload.detach(node, force);
  world.after(world.random.between(seconds(1), seconds(20)), [this, &node] {
    if (!winding_down) workload.attach(node);
  });
}

// ---- the end -----------------------------------------------------------------------------------

void Cluster::wind_down() {
  world.trace("the faults are over");
  winding_down = true;
  const bool calm = weather.calm;
  const int platforms = weather.platforms;  // no fault: nodes stay what they are
  const double unable_nodes = weather.unable_nodes;
  if (weather.no_space_for_good) {
    if (world.now >= no_space_until) ++no_space_episode;
    no_space_until = Instant::never();
  }
  const Duration kept_for = weather.keep_jobs_for;  // a setting
  weather = Weather::fine();
  weather.calm = calm;
  weather.platforms = platforms;
  weather.unable_nodes = unable_nodes;
  weather.keep_jobs_for = kept_for;
  for (auto& node : nodes) {
    node->partitioned = node->mute = node->deaf = false;
    if (node->up && node->id.value != 0 && (!node->agent || node->agent->dead()))
      world.after(seconds(1), [raw = node.get()] {
        if (!raw->agent || raw->agent->dead()) raw->start_agent();
      });
  }
  restart_launcher_later();
  world.after(seconds(5), [this] { workload.wind_down(); });
}

bool Cluster::at_rest() {
  if (!launcher.up() || !workload.settled()) return false;
  if (!launcher.committed().unfinished().empty()) return false;
  if (!launcher.committed().unwritten().empty()) return false;
  for (const auto& view : launcher.core()->node_views())
    if (view.liveness != Liveness::alive) return false;
  if (!machines_at_rest().empty()) return false;
  return std::all_of(nodes.begin(), nodes.end(), [](const auto& node) { return node->quiet(); });
}

// Every host of the lab is a machine with a node, or as many as a cluster must have; no other
// machine is left.
std::string Cluster::machines_at_rest() {
  const launcher::Compute* lab = launcher.committed().computes().find(kLab);
  if (lab == nullptr) return "";
  std::string text;
  for (const auto& [name, machine] : lab->machines)
    if (machine.is_leaving() || machine.node.value == 0)
      text += " machine " + name + " has no node, or leaves";
  const auto& scale = oracle.lab_scale();
  const std::size_t expected =
      scale ? static_cast<std::size_t>(scale->min_instances) : lab->spec.hosts.size();
  if (lab->machines.size() != expected)
    text += fmt::format(" {} machines, not {}", lab->machines.size(), expected);
  return text;
}

std::string Cluster::restless() {
  std::string text;
  if (!launcher.up()) return " the launcher is down";
  if (!workload.settled()) text += " requests:" + workload.waits_for();
  for (const auto& id : launcher.committed().unfinished())
    text += " " + id.value + " is " +
            std::string(to_string(launcher.committed().job(id)->status())) + " (" +
            words::text_of(launcher.core()->job_view(id)->why) + ")";
  for (const auto& id : launcher.committed().unwritten())
    text += " an output of " + id.value + " is not written";
  for (const auto& view : launcher.core()->node_views())
    if (view.liveness != Liveness::alive)
      text += " " + view.name + " is " + std::string(to_string(view.liveness));
  text += machines_at_rest();
  for (const auto& node : nodes)
    if (!node->quiet()) text += " n" + std::to_string(node->index) + " has" + node->leftovers();
  return text;
}

}  // namespace lockstep::sim
