#pragma once
// Stands for the provider programs of a launcher in a seed whose target lab takes hosts over ssh:
// it installs agents on the lab's nodes and removes them, fails, crashes, hangs, and dies with its
// launcher.

#include <map>
#include <set>
#include <string>

#include "launcher/core/base/action.h"
#include "tests/sim/world.h"

namespace lockstep::sim {

class Cluster;
class Node;

class Provider {
 public:
  explicit Provider(Cluster& cluster) : cluster_(cluster) {}
  void perform(const launcher::CallProvider& action);
  void perform(const launcher::StartProvider& action);
  void perform(const launcher::CheckProvider& action);
  void launcher_died();

 private:
  struct Call {
    launcher::CallProvider asked;
    std::set<std::string> open;
  };
  void begin(std::uint64_t call);
  void work(std::uint64_t call, Node& node);
  void create(std::uint64_t call, Node& node);
  void await_join(std::uint64_t call, Node& node, Instant until);
  void finish(std::uint64_t call, Node& node, launcher::ProviderEvent event);
  void fail(std::uint64_t call, Node& node, MachineFault fault,
            const std::string& step = "connect");
  void end(std::uint64_t call, MachineFault fault);
  // Runs `event` after `delay`, unless the call is over by then.
  void later(std::uint64_t call, Duration delay, std::function<void()> event);
  Digest secret(std::uint64_t call, const std::string& machine) const;

  Cluster& cluster_;
  std::map<std::uint64_t, Call> calls_;
  std::uint64_t lives_ = 0;  // of launchers
};

}  // namespace lockstep::sim
