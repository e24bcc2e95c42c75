#pragma once
// Schedules the jobs of all pools of nodes. Each pool has its own lane (lane.h), so that jobs
// waiting for the nodes of one pool never block another pool. Only lanes that changed are checked.

#include <functional>
#include <map>
#include <set>
#include <string>

#include "launcher/core/queue/lane.h"

namespace lockstep::launcher {

// How long a pool pauses after a scheduling pass, because a pass looks at every node. Without a
// pause, each of thousands of returning nodes, or of gang parts that end one after another, would
// cause a pass of its own. Zero for small pools, where a pass is cheap.
Duration rest_after_pass(std::size_t nodes);

class Scheduler {
 public:
  using Moves = Lane::Moves;

  Scheduler(const State& state, const CoreConfig& config) : state_(state), config_(config) {}

  // Adds a job, also one whose priority or turn has changed.
  void add(const Job& job);
  void remove(const Job& job);
  // Resources in this pool were freed or came back.
  void capacity_changed(const std::string& pool) { change(pool, &Lane::capacity_changed); }
  // The set of jobs that could ever be placed in this pool has changed.
  void topology_changed(const std::string& pool) { change(pool, &Lane::topology_changed); }
  // The set has changed in all pools.
  void topology_changed() { change_all(&Lane::topology_changed); }
  void use_fell() { change_all(&Lane::use_fell); }  // the use of a quota fell, not a node's
  void quota_changed() { change_all(&Lane::quota_changed); }
  bool dirty() const { return !dirty_.empty(); }

  // Runs the dirty lanes until none is dirty. A large pool where jobs wait pauses after a pass, so
  // that changes in between cause one pass for all of them (rest_after_pass).
  void run(const Cluster& cluster, const Moves& moves);
  // Ends the pauses that are over, and checks pools again where time has opened a head's kept nodes
  // to others or closed them again.
  void wake(Instant now);
  // The time at which wake() has to be called next; never() if time alone changes nothing.
  Instant next_wake() const;

  // Why a queued job waits.
  Why why(const Job& job) const;

  // Visits the jobs of a pool that wait for nodes, in the order of its queue, until `take` returns
  // false. Jobs that wait for a quota, a time or other jobs are left out.
  void visit(const std::string& pool, const std::function<bool(const Job&)>& take) const;
  // The job's position. 1: the next one among those that visit() visits; 0: the job is not among
  // them.
  int position(const Job& job) const;
  // Whether a job waits for nodes; false while it waits for a time or for other jobs.
  bool has(const Job& job) const;
  // The job's record as a head for which nodes are kept; null: it is not one.
  const Lane::Head* head_of(const Job& job) const;
  // The head that this job may not delay, with its kept nodes; null: there is none.
  const Lane::Head* head_before(const Job& job) const;
  // True if the pool has no suitable nodes at all for the job.
  bool is_parked(const Job& job) const;
  // Whether, in addition, waiting alone does not help; the job's reason tells what would.
  bool waits_in_vain(const Job& job) const;

 private:
  void change(const std::string& pool, void (Lane::*what)());
  void change_all(void (Lane::*what)());
  void note(const std::string& pool, const Lane& lane);

  const Lane* lane_of(const std::string& pool) const;

  const State& state_;
  const CoreConfig& config_;
  std::map<std::string, Lane> lanes_;  // by pool; only pools that have ever had a waiting job
  std::set<std::string> dirty_;
  std::map<std::string, Instant> rests_;  // the ends of pools' pauses; only pools where jobs wait
  std::set<std::string> resting_;         // the pausing pools with a dirty lane
};

}  // namespace lockstep::launcher
