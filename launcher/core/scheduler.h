#pragma once
// Whose turn it is, in all pools of nodes. Each pool has a lane of its own (lane.h), so that what
// waits for the nodes of one pool never holds up another. Only lanes that something happened to are
// looked at.

#include <map>
#include <set>
#include <string>

#include "launcher/core/lane.h"

namespace lockstep::launcher {

class Scheduler {
 public:
  using Moves = Lane::Moves;

  void add(const Job& job);
  void remove(const Job& job);
  // In this pool: something was freed, or came back.
  void capacity_changed(const std::string& pool) { change(pool, &Lane::capacity_changed); }
  // In this pool: what could ever be placed changed.
  void topology_changed(const std::string& pool) { change(pool, &Lane::topology_changed); }
  // The same, in all pools.
  void topology_changed() { change_all(&Lane::topology_changed); }
  void use_fell() { change_all(&Lane::use_fell); }  // of a quota, and of no node
  void quota_changed() { change_all(&Lane::quota_changed); }
  bool dirty() const { return !dirty_.empty(); }

  // Runs the lanes that are dirty, until none is.
  void run(const Cluster& cluster, const Moves& moves);

  // Why a queued job waits.
  std::string reason(const State& state, const Job& job) const;

 private:
  void change(const std::string& pool, void (Lane::*what)());
  void change_all(void (Lane::*what)());
  void note(const std::string& pool, const Lane& lane);

  std::map<std::string, Lane> lanes_;  // by pool; of each that ever had a job that waits
  std::set<std::string> dirty_;
};

}  // namespace lockstep::launcher
