#include "launcher/core/queue/lane.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/domain/why/jobs/waits.h"

namespace lockstep::launcher {

void Lane::add(const CoreConfig& config, const Job& job) {
  over_quota_.remove(job);
  jobs_.add(job, class_of(config, job));
  const JobClass& kind = jobs_.class_of(job.order);
  if (parked_.count(kind.shape) != 0) {
    unsaid_.insert(job.order);
    dirty_ = true;
  } else if (may_change_head(job)) {
    forget_heads();
    dirty_ = true;
  } else if (full_.count(kind.shape) == 0 && !is_closed(job.spec.submitter, kind)) {
    dirty_ = true;
  }
}

// True if the job goes before the head of all or the head of its user, or is itself that head with
// another priority.
bool Lane::may_change_head(const Job& job) const {
  if (const auto aside = aside_.find(job.spec.submitter); aside != aside_.end()) {
    const auto& [order, priority] = std::tie(aside->second.order, aside->second.priority);
    const Priority own = job.spec.queue.priority;
    if (job.order == order) return own != priority;
    if (own != priority ? own > priority : job.order < order) return true;
    if (!head_) return false;
  }
  if (!head_) return true;
  if (job.order == head_->order) return job.spec.queue.priority != head_->priority;
  if (job.spec.queue.priority != head_->priority) return job.spec.queue.priority > head_->priority;
  if (job.spec.submitter == head_->user) return job.order < head_->order;
  const Job::Waiting& waiting = job.waiting();
  return waiting.at_head &&
         std::pair(waiting.head_since, job.order) < std::pair(head_->since, head_->order);
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
  const auto aside = aside_.find(job.spec.submitter);
  const bool stood_aside = aside != aside_.end() && aside->second.order == job.order;
  if (stood_aside || (head_ && head_->order == job.order)) {
    note_end_of_head(job);
    forget_heads();
    dirty_ = true;
  }
}

// Remembers since when nodes were kept for the user. Otherwise a user could keep nodes for ever by
// submitting one job after another and canceling each in time.
void Lane::note_end_of_head(const Job& job) {
  if (!job.cancel_by) {
    kept_since_.erase(job.spec.submitter);
  } else if (const Instant head_since = job.waiting().head_since; head_since.ns != 0) {
    const auto [since, is_new] = kept_since_.emplace(job.spec.submitter, head_since);
    since->second = std::min(since->second, head_since);
  }
}

bool Lane::is_closed(const std::string& user, const JobClass& kind) const {
  return closed_.count({"", kind}) != 0 || closed_.count({user, kind}) != 0;
}

// Forgets the heads, and the jobs that were found unable to start before them.
void Lane::forget_heads() {
  const auto note = [&](const Head& head) {
    known_[head.order] = {head.why, head.reservation.waits_for_own};
  };
  if (head_) note(*head_);
  for (const auto& [user, head] : aside_) note(head);
  head_.reset();
  aside_.clear();
  closed_.clear();
}

const Lane::Head* Lane::head_of(const Job& job) const {
  const auto aside = aside_.find(job.spec.submitter);
  if (aside != aside_.end() && aside->second.order == job.order) return &aside->second;
  return head_ && head_->order == job.order ? &*head_ : nullptr;
}

const Lane::Head* Lane::head_before(const Job& job) const {
  if (const auto aside = aside_.find(job.spec.submitter); aside != aside_.end())
    return aside->second.order == job.order ? nullptr : &aside->second;
  return head_ && head_->order != job.order ? &*head_ : nullptr;
}

// The next change in time. If a pass is due anyway, it handles the change, so there is nothing to
// wait for.
Instant Lane::next_change() const {
  if (dirty_) return Instant::never();
  Instant next = head_ ? head_->reservation.changes_at : Instant::never();
  for (const auto& [user, head] : aside_) next = std::min(next, head.reservation.changes_at);
  return next;
}

void Lane::unpark(const Cluster& cluster, const Moves& moves) {
  for (auto it = parked_.begin(); it != parked_.end();) {
    const Job& first = *cluster.state.job(cluster.state.queue().at(*it->second.orders.begin()));
    const Placement placement = place(cluster, first);
    if (const auto* impossible = std::get_if<Impossible>(&placement)) {
      const bool news = it->second.why != impossible->why;
      it->second.why = impossible->why;
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
      parked_.insert_or_assign(shape, Parked{jobs_.with_shape(shape), why.why, why.in_vain});
  for (const std::uint64_t order : parked.first->second.orders)
    moves.waits(*state.job(state.queue().at(order)));
}

bool Lane::waits_in_vain(const Job& job) const {
  const auto parked = parked_.find(shape_of(job));
  return parked != parked_.end() && parked->second.in_vain && has(job);
}

Why Lane::why(const State& state, const Job& job) const {
  if (over_quota_.holds(job)) {
    const Why over = over_quota_.reason(state, job);
    return over ? over : WaitsToBePlaced{};
  }
  const auto parked = parked_.find(shape_of(job));
  if (parked != parked_.end()) return parked->second.why;
  if (!jobs_.has(job.order)) return WaitsToBePlaced{};
  const auto why_of = [](const Head& head) {
    return WaitsAtHead{head.why, head.reservation.start()};
  };
  if (const Head* own = head_of(job)) return why_of(*own);
  const Head* head = head_before(job);
  if (head == nullptr) return WaitsToBePlaced{};
  return WaitsBehindJob{head->reservation.kept.job, why_of(*head)};
}

void Lane::visit(const State& state, const std::string& pool,
                 const std::function<bool(const Job&)>& take) const {
  jobs_.visit([&](const std::string& user) { return state.shares().share_of(pool, user, now_); },
              [&](std::uint64_t order) { return take(*state.job(state.queue().at(order))); });
}

}  // namespace lockstep::launcher
