#pragma once
// Schedules the jobs of one pool of nodes, in strict order of submission among those that could be
// placed. A job for which the pool has no suitable nodes at all is parked and blocks no other job.
// The first job that only has to wait for busy nodes blocks all jobs behind it. A job whose user or
// project is at a quota waits apart and blocks no other job (quota_queue.h). All data of a lane can
// be rebuilt from State's queue. The cost of a step depends on the jobs that it moves, not on those
// that wait.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "launcher/core/placement.h"
#include "launcher/core/quota_queue.h"

namespace lockstep::launcher {

class Lane {
 public:
  struct Moves {
    // Records the placement. The job then leaves the queue through remove().
    std::function<void(const Job&, Placed)> place;
    // The job's reason to wait changed.
    std::function<void(const Job&)> waits;
  };

  void add(const Job& job);
  void remove(const Job& job);
  void capacity_changed() { dirty_ = true; }                    // resources were freed or came back
  void topology_changed() { dirty_ = topology_dirty_ = true; }  // the set of placeable jobs changed
  void use_fell() { dirty_ = dirty_ || !over_quota_.empty(); }  // of a quota, not of a node
  void quota_changed() { dirty_ = true; }
  bool dirty() const { return dirty_; }
  bool is_empty() const { return ready_.empty() && parked_.empty() && over_quota_.empty(); }

  void run(const Cluster& cluster, const Moves& moves);

  // The reason why a queued job waits.
  std::string reason(const State& state, const Job& job) const;

  // Visits the jobs that wait for nodes, in the order of the queue, until `take` returns false.
  // Jobs that wait for a quota, a time or other jobs are left out.
  void visit(const State& state, const std::function<bool(const Job&)>& take) const;

 private:
  using Orders = std::set<std::uint64_t>;
  struct Parked {
    Orders orders;
    std::string reason;
  };
  bool take_turn(const Cluster& cluster, const Job& job, const Moves& moves);
  void hold(const Job& job, std::optional<Demand> measured, const Moves& moves);
  void unpark(const Cluster& cluster, const Moves& moves);
  void park(const Job& job, const Shape& shape, const std::string& reason, const Moves& moves);

  Orders ready_;
  std::map<Shape, Parked> parked_;
  QuotaQueue over_quota_;
  std::optional<std::pair<std::uint64_t, std::string>> blocked_;  // the first job, and why it waits
  bool dirty_ = false;
  bool topology_dirty_ = false;
};

}  // namespace lockstep::launcher
