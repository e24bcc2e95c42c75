#include "launcher/core/lane.h"

#include <algorithm>
#include <vector>

#include "common/base/check.h"

namespace lockstep::launcher {

void Lane::add(const Job& job) {
  ready_.insert(job.order);
  // Behind a job that waits for busy nodes nothing moves until they are freed.
  if (!blocked_ || job.order < blocked_->first) dirty_ = true;
}

void Lane::remove(const Job& job) {
  ready_.erase(job.order);
  over_quota_.remove(job);
  const auto parked = parked_.find(shape_of(job.spec));
  if (parked != parked_.end()) {
    parked->second.orders.erase(job.order);
    if (parked->second.orders.empty()) parked_.erase(parked);
  }
  if (blocked_ && blocked_->first == job.order) {
    blocked_.reset();
    dirty_ = true;
  }
}

void Lane::run(const Cluster& cluster, const Moves& moves) {
  if (!dirty_) return;
  dirty_ = false;
  if (std::exchange(topology_dirty_, false)) {
    unpark(cluster, moves);
    over_quota_.nodes_changed();
  }
  ready_.merge(over_quota_.take_fitting(cluster.state));
  while (!ready_.empty()) {
    const Job& job = *cluster.state.job(cluster.state.queue().at(*ready_.begin()));
    if (!take_turn(cluster, job, moves)) break;
    if (const auto next = over_quota_.take_next(cluster.state, job.spec)) ready_.insert(*next);
  }
  if (blocked_ && ready_.count(blocked_->first) == 0) blocked_.reset();
  dirty_ = false;
}

// Places the job, or takes it out of those that are ready. False: it blocks them.
bool Lane::take_turn(const Cluster& cluster, const Job& job, const Moves& moves) {
  const Shape shape = shape_of(job.spec);
  if (const auto known = parked_.find(shape); known != parked_.end()) {
    park(job, shape, known->second.reason, moves);
    return true;
  }
  // What it would hold at least is a look at all nodes.
  const bool any_quota = !cluster.state.principals().quotas().empty();
  if (any_quota && over_quota(cluster.state, job.spec, least_demand(cluster.state, job.spec))) {
    hold(job, std::nullopt, moves);
    return true;
  }
  Placement placement = place(cluster, job);
  if (const auto* impossible = std::get_if<Impossible>(&placement)) {
    park(job, shape, impossible->reason, moves);
    return true;
  }
  if (auto* placed = std::get_if<Placed>(&placement)) {
    const Demand demand = demand_of(*placed);
    if (any_quota && over_quota(cluster.state, job.spec, demand)) {
      hold(job, demand, moves);
      return true;
    }
    moves.place(job, std::move(*placed));
    CHECK(ready_.count(job.order) == 0, "a placed job has left the queue");
    return true;
  }
  const std::string& reason = std::get<Blocked>(placement).reason;
  const bool news = !blocked_ || blocked_->first != job.order || blocked_->second != reason;
  blocked_ = {job.order, reason};
  if (news) moves.waits(job);
  return false;
}

void Lane::hold(const Job& job, std::optional<Demand> measured, const Moves& moves) {
  ready_.erase(job.order);
  over_quota_.hold(job, measured);
  moves.waits(job);
}

void Lane::unpark(const Cluster& cluster, const Moves& moves) {
  for (auto it = parked_.begin(); it != parked_.end();) {
    const Job& first = *cluster.state.job(cluster.state.queue().at(*it->second.orders.begin()));
    const Placement placement = place(cluster, first);
    if (const auto* impossible = std::get_if<Impossible>(&placement)) {
      const bool news = it->second.reason != impossible->reason;
      it->second.reason = impossible->reason;
      if (news) moves.waits(first);
      ++it;
    } else {
      ready_.merge(it->second.orders);
      it = parked_.erase(it);
    }
  }
}

void Lane::park(const Job& job, const Shape& shape, const std::string& reason, const Moves& moves) {
  ready_.erase(job.order);
  Parked& parked = parked_[shape];
  parked.orders.insert(job.order);
  parked.reason = reason;
  moves.waits(job);
}

std::string Lane::reason(const State& state, const Job& job) const {
  const auto parked = parked_.find(shape_of(job.spec));
  if (parked != parked_.end() && parked->second.orders.count(job.order) != 0)
    return parked->second.reason;
  if (over_quota_.holds(job)) return over_quota_.reason(state, job).value_or("waits to be placed");
  if (!blocked_ || ready_.count(job.order) == 0) return "waits to be placed";
  if (blocked_->first == job.order) return blocked_->second;
  const auto head = state.queue().find(blocked_->first);
  if (head == state.queue().end()) return "waits to be placed";
  return "waits behind job '" + head->second.value + "', which " + blocked_->second;
}

void Lane::visit(const State& state, const std::function<bool(const Job&)>& take) const {
  using Range = std::pair<Orders::const_iterator, Orders::const_iterator>;
  const auto later = [](const Range& a, const Range& b) { return *a.first > *b.first; };
  std::vector<Range> ranges;
  if (!ready_.empty()) ranges.emplace_back(ready_.begin(), ready_.end());
  for (const auto& [shape, parked] : parked_)
    ranges.emplace_back(parked.orders.begin(), parked.orders.end());
  std::make_heap(ranges.begin(), ranges.end(), later);
  while (!ranges.empty()) {
    std::pop_heap(ranges.begin(), ranges.end(), later);
    Range& next = ranges.back();
    if (!take(*state.job(state.queue().at(*next.first)))) return;
    if (++next.first == next.second)
      ranges.pop_back();
    else
      std::push_heap(ranges.begin(), ranges.end(), later);
  }
}

}  // namespace lockstep::launcher
