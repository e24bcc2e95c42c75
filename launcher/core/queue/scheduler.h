#pragma once
// Schedules the jobs of all pools of nodes. Each pool has its own lane (lane.h), so that jobs
// waiting for the nodes of one pool never block another pool. Only lanes that changed are checked.

#include <functional>
#include <map>
#include <set>
#include <string>

#include "launcher/core/queue/lane.h"

namespace lockstep::launcher {

// How long a pool rests after a scheduling pass, because a pass looks at every node. Without a
// rest, each of thousands of nodes that return, or of gang parts that end one after another, would
// cause a pass of its own. Zero for small pools, where a pass is cheap.
Duration rest_after_pass(std::size_t nodes);

class Scheduler {
 public:
  using Moves = Lane::Moves;

  Scheduler(const State& state, const CoreConfig& config) : state_(state), config_(config) {}

  // Also for a job whose priority or turn changed.
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

  // Runs the dirty lanes until none is dirty. A large pool where jobs wait rests after a pass,
  // which looks at every node: what changes meanwhile is one pass for all (rest_after_pass).
  void run(const Cluster& cluster, const Moves& moves);
  // Ends the rest of the pools for which it is over, and looks again at those where others may take
  // now what is kept for a head, or may no longer.
  void wake(Instant now);
  // When wake() has something to do next; never() if nothing does as time passes.
  Instant next_wake() const;

  // Why a queued job waits.
  Why why(const Job& job) const;

  // Visits the jobs of a pool that wait for nodes, in the order of its queue, until `take` returns
  // false. Jobs that wait for a quota, a time or other jobs are left out.
  void visit(const std::string& pool, const std::function<bool(const Job&)>& take) const;
  // 1 = next among those that visit() visits; 0: it is not among them.
  int position(const Job& job) const;
  // False while the job waits for a time or for other jobs.
  bool has(const Job& job) const;
  // The job as one for which nodes are kept; null: it is none.
  const Lane::Head* head_of(const Job& job) const;
  // The job that waits for busy nodes and that this one may not make later, and what is kept for
  // it; null: none.
  const Lane::Head* head_before(const Job& job) const;
  // True if the pool has no suitable nodes at all for the job.
  bool is_parked(const Job& job) const;
  // True if, in addition, time alone does not change that: the job's reason says what does.
  bool waits_in_vain(const Job& job) const;

 private:
  void change(const std::string& pool, void (Lane::*what)());
  void change_all(void (Lane::*what)());
  void note(const std::string& pool, const Lane& lane);

  const Lane* lane_of(const std::string& pool) const;

  const State& state_;
  const CoreConfig& config_;
  std::map<std::string, Lane> lanes_;  // by pool; only pools that ever had a waiting job
  std::set<std::string> dirty_;
  std::map<std::string, Instant> rests_;  // until when, of pools where jobs wait
  std::set<std::string> resting_;         // of these, those with a dirty lane
};

}  // namespace lockstep::launcher
