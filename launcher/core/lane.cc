#include "launcher/core/lane.h"

#include "launcher/core/pass.h"

namespace lockstep::launcher {

void Lane::add(const CoreConfig& config, const Job& job) {
  over_quota_.remove(job);
  jobs_.add(job, class_of(config, job));
  const JobClass& kind = jobs_.class_of(job.order);
  if (parked_.count(kind.shape) != 0) {
    unsaid_.insert(job.order);
    dirty_ = true;
  } else if (!head_ || may_change_head(job)) {
    forget_head();
    dirty_ = true;
  } else if (full_.count(kind.shape) == 0 && closed_.count(kind) == 0) {
    dirty_ = true;
  }
}

// It goes before the head, or is the head with another priority.
bool Lane::may_change_head(const Job& job) const {
  if (job.order == head_->order) return job.spec.queue.priority != head_->priority;
  if (job.spec.queue.priority != head_->priority) return job.spec.queue.priority > head_->priority;
  return job.order < head_->order && (job.at_head || job.spec.submitter == head_->user);
}

void Lane::remove(const Job& job) {
  jobs_.remove(job.order);
  over_quota_.remove(job);
  unsaid_.erase(job.order);
  const auto parked = parked_.find(shape_of(job));
  if (parked != parked_.end()) {
    parked->second.orders.erase(job.order);
    if (parked->second.orders.empty()) parked_.erase(parked);
  }
  if (head_ && head_->order == job.order) {
    forget_head();
    dirty_ = true;
  }
}

// Which jobs may not start before the head depends on it.
void Lane::forget_head() {
  head_.reset();
  closed_.clear();
  tests_ = 0;
  nodes_tested_ = 0;
}

void Lane::run(const Cluster& cluster, const Moves& moves) {
  if (!dirty_) return;
  const State& state = cluster.state;
  const auto job_at = [&](std::uint64_t order) { return state.job(state.queue().at(order)); };
  now_ = cluster.now;
  for (const std::uint64_t order : std::exchange(unsaid_, {})) {
    const auto parked = parked_.find(jobs_.class_of(order).shape);
    if (parked == parked_.end()) continue;
    parked->second.orders.insert(order);
    moves.waits(*job_at(order));
    // The reason changes with time alone once the target has had long enough to get nodes.
    if (state.nodes_of(job_at(order)->pool).size() == 0) topology_dirty_ = true;
  }
  if (std::exchange(topology_dirty_, false)) {
    unpark(cluster, moves);
    over_quota_.nodes_changed();
  }
  const std::optional<Head> before = head_;
  if (std::exchange(retest_, false)) {
    forget_head();
    full_.clear();
  }
  for (const std::uint64_t order : over_quota_.take_fitting(state))
    jobs_.add(*job_at(order), class_of(cluster.config, *job_at(order)));
  Pass(*this, cluster, moves).run(before);
  dirty_ = false;
}

void Lane::unpark(const Cluster& cluster, const Moves& moves) {
  for (auto it = parked_.begin(); it != parked_.end();) {
    const Job& first = *cluster.state.job(cluster.state.queue().at(*it->second.orders.begin()));
    const Placement placement = place(cluster, first);
    if (const auto* impossible = std::get_if<Impossible>(&placement)) {
      const bool news = it->second.reason != impossible->reason;
      it->second.reason = impossible->reason;
      it->second.in_vain = impossible->in_vain;
      if (news) moves.waits(first);
      ++it;
    } else {
      it = parked_.erase(it);
    }
  }
}

void Lane::park(const State& state, const Shape& shape, const Impossible& why, const Moves& moves) {
  const auto parked =
      parked_.insert_or_assign(shape, Parked{jobs_.with_shape(shape), why.reason, why.in_vain});
  for (const std::uint64_t order : parked.first->second.orders)
    moves.waits(*state.job(state.queue().at(order)));
}

bool Lane::waits_in_vain(const Job& job) const {
  const auto parked = parked_.find(shape_of(job));
  return parked != parked_.end() && parked->second.in_vain && has(job);
}

std::string Lane::reason(const State& state, const Job& job) const {
  if (over_quota_.holds(job)) return over_quota_.reason(state, job).value_or("waits to be placed");
  const auto parked = parked_.find(shape_of(job));
  if (parked != parked_.end()) return parked->second.reason;
  if (!head_ || !jobs_.has(job.order)) return "waits to be placed";
  const std::string why = head_->reason + "; " + describe(head_->reservation);
  if (head_->order == job.order) return why;
  const bool is_verb = why.starts_with("waits ") || why.starts_with("needs ");
  return "waits behind job '" + head_->reservation.kept.job.value + "'" +
         (is_verb ? ", which " : ": ") + why;
}

void Lane::visit(const State& state, const std::string& pool,
                 const std::function<bool(const Job&)>& take) const {
  jobs_.visit([&](const std::string& user) { return state.shares().share_of(pool, user, now_); },
              [&](std::uint64_t order) { return take(*state.job(state.queue().at(order))); });
}

}  // namespace lockstep::launcher
