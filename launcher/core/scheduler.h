#pragma once
// Schedules the jobs of all pools of nodes. Each pool has its own lane (lane.h), so that jobs
// waiting for the nodes of one pool never block another pool. Only lanes that changed are checked.

#include <functional>
#include <map>
#include <set>
#include <string>

#include "launcher/core/lane.h"

namespace lockstep::launcher {

class Scheduler {
 public:
  using Moves = Lane::Moves;

  explicit Scheduler(const State& state) : state_(state) {}

  void add(const Job& job);
  void remove(const Job& job);
  // Resources in this pool were freed or came back.
  void capacity_changed(const std::string& pool) { change(pool, &Lane::capacity_changed); }
  // The set of jobs that could ever be placed in this pool changed.
  void topology_changed(const std::string& pool) { change(pool, &Lane::topology_changed); }
  // The same, in all pools.
  void topology_changed() { change_all(&Lane::topology_changed); }
  void use_fell() { change_all(&Lane::use_fell); }  // of a quota, not of a node
  void quota_changed() { change_all(&Lane::quota_changed); }
  bool dirty() const { return !dirty_.empty(); }

  // Runs the dirty lanes until none is dirty.
  void run(const Cluster& cluster, const Moves& moves);

  // The reason why a queued job waits.
  std::string reason(const Job& job) const;

  // Visits the jobs of a pool that wait for nodes, in the order of its queue, until `take` returns
  // false. Jobs that wait for a quota, a time or other jobs are left out.
  void visit(const std::string& pool, const std::function<bool(const Job&)>& take) const;

 private:
  void change(const std::string& pool, void (Lane::*what)());
  void change_all(void (Lane::*what)());
  void note(const std::string& pool, const Lane& lane);

  const State& state_;
  std::map<std::string, Lane> lanes_;  // by pool; only pools that ever had a waiting job
  std::set<std::string> dirty_;
};

}  // namespace lockstep::launcher
