#pragma once
// The queue of one pool of nodes, in order of submission. A job that no nodes of the pool can ever
// run is parked and blocks nobody; the first job that waits for busy nodes blocks all jobs behind
// it. Jobs whose user or project has reached a quota wait separately and block nobody
// (quota_queue.h). A lane holds only what can be rebuilt from State's queue, so that the cost of a
// step depends on the jobs it moves, not on the jobs that wait.

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
  void capacity_changed() { dirty_ = true; }                    // something was freed, or came back
  void topology_changed() { dirty_ = topology_dirty_ = true; }  // what could ever be placed changed
  void use_fell() { dirty_ = dirty_ || !over_quota_.empty(); }  // of a quota, and of no node
  void quota_changed() { dirty_ = true; }
  bool dirty() const { return dirty_; }
  bool is_empty() const { return ready_.empty() && parked_.empty() && over_quota_.empty(); }

  void run(const Cluster& cluster, const Moves& moves);

  // Why a queued job waits.
  std::string reason(const State& state, const Job& job) const;

 private:
  struct Parked {
    std::set<std::uint64_t> orders;
    std::string reason;
  };
  bool take_turn(const Cluster& cluster, const Job& job, const Moves& moves);
  void hold(const Job& job, std::optional<Demand> measured, const Moves& moves);
  void unpark(const Cluster& cluster, const Moves& moves);
  void park(const Job& job, const Shape& shape, const std::string& reason, const Moves& moves);

  std::set<std::uint64_t> ready_;
  std::map<Shape, Parked> parked_;
  QuotaQueue over_quota_;
  std::optional<std::pair<std::uint64_t, std::string>> blocked_;  // the head, and why
  bool dirty_ = false;
  bool topology_dirty_ = false;
};

}  // namespace lockstep::launcher
