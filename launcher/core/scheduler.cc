#include "launcher/core/scheduler.h"

namespace lockstep::launcher {

void Scheduler::add(const Job& job) {
  Lane& lane = lanes_[job.pool];
  lane.add(job);
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
    Lane& lane = lanes_.at(pool);
    lane.run(cluster, moves);
    dirty_.erase(pool);
    if (lane.is_empty()) lanes_.erase(pool);
  }
}

std::string Scheduler::reason(const Job& job) const {
  const auto found = lanes_.find(job.pool);
  if (found == lanes_.end()) return "waits to be placed";
  return found->second.reason(state_, job);
}

void Scheduler::visit(const std::string& pool, const std::function<bool(const Job&)>& take) const {
  const auto found = lanes_.find(pool);
  if (found != lanes_.end()) found->second.visit(state_, take);
}

void Scheduler::change(const std::string& pool, void (Lane::*what)()) {
  const auto found = lanes_.find(pool);
  if (found == lanes_.end()) return;  // nothing waits there
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
