#include "launcher/core/queue/scheduler.h"

#include <algorithm>

#include "common/domain/why/jobs/waits.h"
#include "launcher/core/queue/pass.h"

namespace lockstep::launcher {

// The pause after a pass, which costs about a microsecond for each node: passes are limited to a
// twentieth of a core.
Duration rest_after_pass(std::size_t nodes) {
  constexpr std::size_t kFew = 500;
  constexpr Duration kOfNode{20'000};  // 20 us
  if (nodes < kFew) return Duration::zero();
  return kOfNode * static_cast<std::int64_t>(nodes);
}

void Scheduler::add(const Job& job) {
  Lane& lane = lanes_[job.pool];
  lane.add(config_, job);
  note(job.pool, lane);
}

void Scheduler::remove(const Job& job) {
  const auto found = lanes_.find(job.pool);
  if (found == lanes_.end()) return;
  found->second.remove(job);
  note(job.pool, found->second);
}

void Scheduler::run(const Cluster& cluster, const Moves& moves) {
  while (!dirty_.empty()) {
    const std::string pool = *dirty_.begin();
    const auto rest = rests_.find(pool);
    if (rest != rests_.end() && cluster.now < rest->second) {
      resting_.insert(pool);
      dirty_.erase(pool);
      continue;
    }
    Lane& lane = lanes_.at(pool);
    run_pass(lane, cluster, moves);
    dirty_.erase(pool);
    rests_.erase(pool);
    resting_.erase(pool);
    const Duration pause = rest_after_pass(cluster.state.nodes_of(pool).size());
    if (lane.is_empty())
      lanes_.erase(pool);
    else if (pause > Duration::zero())
      rests_[pool] = cluster.now + pause;
  }
}

void Scheduler::wake(Instant now) {
  for (auto& [pool, lane] : lanes_) {
    if (lane.next_change() > now) continue;
    lane.capacity_changed();
    note(pool, lane);
  }
  for (auto it = resting_.begin(); it != resting_.end();) {
    const auto rest = rests_.find(*it);
    if (rest != rests_.end() && now < rest->second) {
      ++it;
      continue;
    }
    if (lanes_.count(*it) != 0) dirty_.insert(*it);
    it = resting_.erase(it);
  }
}

Instant Scheduler::next_wake() const {
  Instant next = Instant::never();
  for (const std::string& pool : resting_) next = std::min(next, rests_.at(pool));
  for (const auto& [pool, lane] : lanes_) next = std::min(next, lane.next_change());
  return next;
}

const Lane* Scheduler::lane_of(const std::string& pool) const {
  const auto found = lanes_.find(pool);
  return found == lanes_.end() ? nullptr : &found->second;
}

Why Scheduler::why(const Job& job) const {
  const Lane* lane = lane_of(job.pool);
  return lane == nullptr ? WaitsToBePlaced{} : lane->why(state_, job);
}

void Scheduler::visit(const std::string& pool, const std::function<bool(const Job&)>& take) const {
  if (const Lane* lane = lane_of(pool)) lane->visit(state_, pool, take);
}

int Scheduler::position(const Job& job) const {
  const Lane* lane = lane_of(job.pool);
  if (lane == nullptr || !lane->has(job)) return 0;
  int position = 0;
  visit(job.pool, [&](const Job& other) {
    ++position;
    return other.order != job.order;
  });
  return position;
}

bool Scheduler::has(const Job& job) const {
  const Lane* lane = lane_of(job.pool);
  return lane != nullptr && (lane->has(job) || lane->holds_for_quota(job));
}

const Lane::Head* Scheduler::head_of(const Job& job) const {
  const Lane* lane = lane_of(job.pool);
  return lane == nullptr ? nullptr : lane->head_of(job);
}

const Lane::Head* Scheduler::head_before(const Job& job) const {
  const Lane* lane = lane_of(job.pool);
  return lane == nullptr ? nullptr : lane->head_before(job);
}

bool Scheduler::is_parked(const Job& job) const {
  const Lane* lane = lane_of(job.pool);
  return lane != nullptr && lane->has(job) && lane->is_parked(job);
}

bool Scheduler::waits_in_vain(const Job& job) const {
  const Lane* lane = lane_of(job.pool);
  return lane != nullptr && lane->waits_in_vain(job);
}

void Scheduler::change(const std::string& pool, void (Lane::*what)()) {
  const auto found = lanes_.find(pool);
  if (found == lanes_.end()) return;  // no job waits in the pool
  (found->second.*what)();
  note(pool, found->second);
}

void Scheduler::change_all(void (Lane::*what)()) {
  for (auto& [pool, lane] : lanes_) {
    (lane.*what)();
    note(pool, lane);
  }
}

void Scheduler::note(const std::string& pool, const Lane& lane) {
  if (lane.dirty()) dirty_.insert(pool);
}

}  // namespace lockstep::launcher
