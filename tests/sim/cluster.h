#pragma once
// The whole simulated cluster of one seed: launcher, nodes, network, people and faults, driven by
// simulated time. run() simulates until everything is at rest or a checker finds a violation.

#include <memory>
#include <set>
#include <vector>

#include "tests/sim/launcher_host.h"
#include "tests/sim/node.h"
#include "tests/sim/oracle.h"
#include "tests/sim/saboteur.h"
#include "tests/sim/weather.h"
#include "tests/sim/workload.h"

namespace lockstep::sim {

class Cluster {
 public:
  Cluster(std::uint64_t seed, Defect defect, bool trace);
  ~Cluster();
  void run();

  World world;
  Weather weather;
  Saboteur saboteur;
  LauncherHost launcher;
  Oracle oracle;
  Workload workload;
  std::vector<std::unique_ptr<Node>> nodes;
  std::set<AttemptId> broken;          // attempts of which a rank died
  std::set<AttemptId> altered;         // of which a runner passed on another table than it got
  std::set<std::string> drained_once;  // names of nodes, by a committed fact
  bool winding_down = false;           // no more faults
  Instant no_space_until;              // until then the launcher has no space for outputs and logs
  std::uint64_t no_space_episode = 0;  // how often that began

  // ---- network ----
  bool has_no_space(double chance);                  // with `chance`, an episode begins now
  void over_network(std::function<void()> arrival);  // client <-> launcher
  void to_launcher(Node& from, bool from_clone, launcher::Input input);
  void to_agent(NodeId node, AgentReply message);
  void to_agent_with_key(const PublicKey& key, AgentReply message);
  bool linked(const Node& a, NodeId b) const;
  bool deliver_logs(Node& node, const AttemptId& attempt);

  // ---- runners ----
  std::uint16_t next_port() { return next_port_++; }
  void runner_born(const std::shared_ptr<Runner>& runner) { runners_.push_back(runner); }
  std::shared_ptr<Runner> runner_at(std::uint16_t port);
  std::vector<std::shared_ptr<Runner>> peers_of(const Runner& runner);  // in its gang, and live
  void runner_reports(Node& node, Runner& runner, const PartReport& report);
  void runner_gone(Runner& runner);
  void aftermath(Runner& gone, bool rebooted);
  const JobPlan& plan_of(const JobId& job) const { return workload.plan_of(job); }

  void restart_launcher_later();

 private:
  using Fault = void (Cluster::*)();
  // Drops, delays or duplicates a message. `may_be_late`: it may also arrive seconds after messages
  // that were sent later.
  void carry(std::function<void()> arrival, bool may_be_late);
  void now_and_then(double mean_seconds, const char* name, Fault fault);
  void start_faults();
  void wind_down();
  bool at_rest();
  std::string restless();
  std::string machines_at_rest();  // "": they are
  Node& some_node() {
    return *nodes[static_cast<std::size_t>(
        world.random.between(0, static_cast<int>(nodes.size()) - 1))];
  }
  std::shared_ptr<Runner> some_runner();

  void crash_launcher();
  void stop_launcher();
  void crash_agent();
  void take_machine();
  void stop_agent();
  void crash_runner();
  void crash_spawn();
  void reboot_node();
  void cut_off_node();
  void clone_node();
  void drain_node();
  void remove_node();
  void revoke_node();
  void detach_host();

  std::vector<std::weak_ptr<Runner>> runners_;
  std::uint16_t next_port_ = 10'000;
  bool restart_planned_ = false;
};

}  // namespace lockstep::sim
