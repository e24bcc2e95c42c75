#include "launcher/core/pass.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/check.h"

namespace lockstep::launcher {

void Pass::run(const std::optional<Lane::Head>& before) {
  if (before) {
    said_of_ = before->order;
    said_ = before->reason;
  }
  for (const Priority priority : kPriorities) run_level(priority);
}

const WaitingJobs::Level* Pass::level(Priority priority) const {
  const auto found = lane_.jobs_.levels().find(priority);
  return found == lane_.jobs_.levels().end() ? nullptr : &found->second;
}

// Levels and lines change with every turn, so that they are looked up again after each.
void Pass::run_level(Priority priority) {
  while (const auto* now = level(priority)) {
    const auto order = next_at_head(*now);
    if (!order || is_spent()) break;
    take_turn(*order);
  }
  if (const auto* now = level(priority)) load(*now);
  while (!turns_.empty() && !is_spent()) {
    const Turn turn = turns_.extract(turns_.begin()).value();
    const auto* now = level(priority);
    const auto line = now->users.find(turn.user);
    if (line == now->users.end()) continue;
    const auto first = line->second.firsts.find(turn.order);
    const bool is_still = first != line->second.firsts.end() && is_open(*first->second);
    if (is_still) take_turn(turn.order);
    if ((now = level(priority)) == nullptr) break;
    line_up(*now, turn.user, turn.rounds + (is_still && lane_.head_ ? 1 : 0));
  }
  turns_.clear();
}

std::optional<std::uint64_t> Pass::next_at_head(const WaitingJobs::Level& level) const {
  for (const auto& [order, user] : level.at_head) {
    if (const auto line = level.users.find(user); line != level.users.end())
      for (const auto& [older, kind] : line->second.firsts)
        if (older < order && is_open(*kind)) return older;
    if (is_open(lane_.jobs_.class_of(order))) return order;
  }
  return std::nullopt;
}

void Pass::load(const WaitingJobs::Level& level) {
  for (const auto& [user, line] : level.users) line_up(level, user, 0);
}

void Pass::line_up(const WaitingJobs::Level& level, const std::string& user, int rounds) {
  const auto line = level.users.find(user);
  if (line == level.users.end()) return;
  for (const auto& [order, kind] : line->second.firsts) {
    if (!is_open(*kind)) continue;
    const Job& job = *cluster_.state.job(cluster_.state.queue().at(order));
    const double share =
        level.users.size() > 1 ? cluster_.state.shares().share_of(job.pool, user, cluster_.now) : 0;
    turns_.insert({rounds, share, order, user});
    return;
  }
}

bool Pass::is_open(const JobClass& kind) const {
  if (lane_.parked_.count(kind.shape) != 0) return false;
  return !lane_.head_ || (lane_.full_.count(kind.shape) == 0 && lane_.closed_.count(kind) == 0);
}

bool Pass::is_spent() const {
  return lane_.head_ &&
         (lane_.tests_ >= kMaxBackfillTests || lane_.nodes_tested_ >= kMaxBackfillNodes);
}

void Pass::count_test(const Job& job) {
  ++lane_.tests_;
  lane_.nodes_tested_ += cluster_.state.nodes_of(job.pool).size();
}

void Pass::take_turn(std::uint64_t order) {
  const Job& job = *cluster_.state.job(cluster_.state.queue().at(order));
  const JobClass kind = lane_.jobs_.class_of(order);
  if (is_over_quota(job)) return hold(job, std::nullopt);
  if (const auto full = lane_.full_.find(kind.shape); full != lane_.full_.end())
    return lead(job, full->second);
  try_to_place(job, kind);
}

// What it would hold at least is a look at all nodes.
bool Pass::is_over_quota(const Job& job) {
  const State& state = cluster_.state;
  return !state.principals().quotas().empty() &&
         over_quota(state, job.spec, least_demand(state, job.spec));
}

void Pass::hold(const Job& job, std::optional<Demand> measured) {
  lane_.jobs_.remove(job.order);
  lane_.over_quota_.hold(job, measured);
  moves_.waits(job);
}

// The job is the first that has to wait.
void Pass::lead(const Job& job, const std::string& reason) {
  lane_.head_ = Lane::Head{job.order, job.spec.queue.priority, job.spec.submitter, reason,
                           reserve(cluster_, job)};
  is_fresh_ = true;
  const bool is_news = said_of_ != job.order || said_ != reason;
  if (!job.at_head) moves_.at_head(job);
  if (is_news) moves_.waits(job);
}

void Pass::try_to_place(const Job& job, const JobClass& kind) {
  Placement placement = place(cluster_, job);
  if (const auto* impossible = std::get_if<Impossible>(&placement))
    return lane_.park(cluster_.state, kind.shape, *impossible, moves_);
  if (auto* placed = std::get_if<Placed>(&placement))
    return lane_.head_ ? place_behind_head(job, kind, std::move(*placed))
                       : place_now(job, std::move(*placed));
  const std::string& reason = std::get<Blocked>(placement).reason;
  lane_.full_.emplace(kind.shape, reason);
  if (!lane_.head_) return lead(job, reason);
  count_test(job);
}

Lane::Head& Pass::fresh_head() {
  Lane::Head& head = *lane_.head_;
  if (!std::exchange(is_fresh_, true))
    head.reservation =
        reserve(cluster_, *cluster_.state.job(cluster_.state.queue().at(head.order)));
  return head;
}

void Pass::place_behind_head(const Job& job, const JobClass& kind, Placed placed) {
  Reservation& reservation = fresh_head().reservation;
  const bool ends_before = reservation.ends_before(cluster_.now, kind.longest);
  if (!ends_before) {
    Cluster rest = cluster_;
    rest.kept = &reservation.kept;
    Placement again = place(rest, job);
    if (!std::holds_alternative<Placed>(again)) {
      lane_.closed_.insert(kind);
      return count_test(job);
    }
    placed = std::get<Placed>(std::move(again));
  }
  placed.why.push_back(fmt::format("went before job '{}' ({}): {}", reservation.kept.job.value,
                                   describe(reservation),
                                   ends_before ? "its own time limit is reached before"
                                               : "that job does not need these resources then"));
  if (!ends_before) reservation.take(placed);
  place_now(job, std::move(placed));
}

void Pass::place_now(const Job& job, Placed placed) {
  const State& state = cluster_.state;
  const Demand demand = demand_of(placed);
  if (!state.principals().quotas().empty() && over_quota(state, job.spec, demand))
    return hold(job, demand);
  const std::uint64_t order = job.order;
  moves_.place(job, std::move(placed));
  CHECK(!lane_.jobs_.has(order), "a placed job has left the queue");
  if (const auto next = lane_.over_quota_.take_next(state, job.spec))
    lane_.jobs_.add(*state.job(state.queue().at(*next)),
                    class_of(cluster_.config, *state.job(state.queue().at(*next))));
}

}  // namespace lockstep::launcher
