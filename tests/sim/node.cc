#include "tests/sim/node.h"

#include <array>

#include "tests/sim/cluster.h"

namespace lockstep::sim {

namespace {

struct Libraries {
  const char* glibc;
  const char* cuda;
};
constexpr std::array<Libraries, 4> kLibraries{
    {{"2.36", "12.4"}, {"2.31", "12.10"}, {"2.9", ""}, {"2.36", "9.2"}}};

int draw_libraries(Random& random) {
  return random.between(0, static_cast<int>(kLibraries.size()) - 1);
}

}  // namespace

Node::Node(Cluster& c, int i)
    : cluster(c),
      index(i),
      key("key-" + std::to_string(i)),
      libraries(draw_libraries(c.world.random)),
      can_solve(!c.world.random.chance(c.weather.unable_nodes)) {}

Inventory Node::inventory() const {
  Inventory inventory;
  inventory.hostname = "n" + std::to_string(index);
  inventory.cpus = {0, 1, 2, 3};
  inventory.memory = gibibytes(8);
  inventory.address = "10.0.0." + std::to_string(index + 1);
  inventory.host_id = "host-" + std::to_string(index);
  inventory.network = "local";
  inventory.user = "root";
  inventory.glibc = kLibraries[static_cast<std::size_t>(libraries)].glibc;
  inventory.cuda = kLibraries[static_cast<std::size_t>(libraries)].cuda;
  return inventory;
}

void Node::joined(NodeId given) {
  if (id.value != 0) {
    if (id != given) cluster.world.violate("oracle:join", "a node was given two identities");
    return;
  }
  id = given;
  cluster.oracle.node_joined(id, index);
  start_agent();
}

// A person gave it a new token and removed its keys.
void Node::join_anew() {
  id = NodeId(0);
  key = PublicKey("key-" + std::to_string(index) + "-" + std::to_string(++identities));
  if (!cluster.workload.is_machine(*this)) cluster.workload.join(*this);
}

void Node::lose_everything() {
  for (auto& [attempt, runner] : runners) {
    if (runner->has_ranks()) cluster.aftermath(*runner, true);
    runner->kill(true);
    cluster.oracle.strays_changed(attempt, index, 0);
  }
  runners.clear();
  directories.clear();
  cluster.oracle.files_lost(index);
}

void Node::uninstall() {
  kill_agent();
  agent.reset();
  lose_everything();
  id = NodeId(0);  // it may have joined though it never heard so
  key = PublicKey("key-" + std::to_string(index) + "-" + std::to_string(++identities));
}

void Node::start_agent() {
  if (!up || id.value == 0) return;
  if (agent) agent->kill();
  if (cluster.world.random.chance(cluster.weather.other_libraries)) {
    cluster.world.count("fault:other_libraries");
    libraries = draw_libraries(cluster.world.random);
  }
  agent = std::make_shared<AgentProcess>(cluster, *this, boot(), false);
  agent->self_ = agent;
  if (notice_stays && cluster.world.now < taken_until)
    agent->give(agent::MachineTaken{taken_until - cluster.world.now, "somebody takes it", false});
  agent->start();
}

void Node::kill_agent() {
  if (agent) agent->kill();
}

void Node::reboot(Duration down_for) {
  if (!up) return;
  cluster.world.trace("n{} reboots, down for {}", index, format_duration(down_for));
  up = false;
  kill_agent();
  lose_everything();
  ++boots;
  taken_until = {};
  cluster.world.after(down_for, [this] {
    up = true;
    start_agent();
  });
}

void Node::cut_one_way(Duration duration) {
  if (!reachable()) return;
  const bool loses_words = cluster.world.random.chance(0.5);
  cluster.world.trace("n{} is {} for {}", index, loses_words ? "mute" : "deaf",
                      format_duration(duration));
  (loses_words ? mute : deaf) = true;
  cluster.world.after(duration, [this] { mute = deaf = false; });
}

void Node::partition_for(Duration duration) {
  if (partitioned) return;
  cluster.world.trace("n{} is cut off for {}", index, format_duration(duration));
  partitioned = true;
  if (duration > seconds(8))
    for (auto& [attempt, runner] : runners)
      if (runner->has_ranks()) cluster.aftermath(*runner, false);
  cluster.world.after(duration, [this] { partitioned = false; });
}

void Node::clone_for(Duration duration) {
  if (clone || id.value == 0) return;
  cluster.world.trace("n{} is cloned for {}", index, format_duration(duration));
  clone_directories.clear();
  cluster.oracle.cloned(index);
  clone = std::make_shared<AgentProcess>(cluster, *this, BootId("clone-" + std::to_string(index)),
                                         true);
  clone->self_ = clone;
  clone->start();
  cluster.world.after(duration, [this] {
    clone->kill();
    clone.reset();
    // The person who deletes the clone starts the real agent again.
    if (up && (!agent || agent->dead())) start_agent();
  });
}

void Node::hear(const AgentReply& message) {
  const auto session = std::visit(
      [](const auto& m) -> SessionId {
        if constexpr (requires { m.session; }) return m.session;
        return SessionId(0);
      },
      message);
  if (clone && !clone->dead() && clone->session() == session) return clone->hear(message);
  if (up && agent && !agent->dead()) agent->hear(message);
}

void Node::runner_ended(const AttemptId& attempt) {
  if (!up || !agent || agent->dead()) return;
  const auto files = directories.find(attempt);
  if (files == directories.end()) return;
  if (!files->second.final_report)
    return agent->give(agent::RunnerGone{attempt, cluster.oracle.logs_on(attempt, index)});
  PartReport report;
  report.attempt = attempt;
  report.state = PartState::finished;
  report.exit = files->second.final_report;
  agent->give(agent::RunnerReported{attempt, report});
}

bool Node::quiet() const {
  for (const auto& [attempt, runner] : runners)
    if (!runner->dead()) return false;
  const bool is_spare = cluster.oracle.lab_scale() && cluster.workload.is_machine(*this);
  if (is_spare && id.value == 0) return !cluster.oracle.anything_runs(index);
  return directories.empty() && agent && !agent->dead() && agent->idle() &&
         !cluster.oracle.anything_runs(index);
}

std::string Node::leftovers() const {
  std::string text;
  for (const auto& [attempt, files] : directories) text += " directory " + to_string(attempt);
  for (const auto& [attempt, runner] : runners)
    if (!runner->dead()) text += " runner " + to_string(attempt);
  if (cluster.oracle.anything_runs(index)) text += " processes";
  if (!agent || agent->dead())
    text += " no agent";
  else if (!agent->idle())
    text += " parts";
  return text;
}

}  // namespace lockstep::sim
