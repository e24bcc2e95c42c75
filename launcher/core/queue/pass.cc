#include "launcher/core/queue/pass.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/domain/why/jobs/waits.h"

namespace lockstep::launcher {

void Pass::run(std::map<std::uint64_t, Lane::Known> before) {
  before_ = std::move(before);
  for (const Priority priority : kPriorities) run_level(priority);
}

const WaitingJobs::Level* Pass::level(Priority priority) const {
  const auto found = lane_.jobs_.levels().find(priority);
  return found == lane_.jobs_.levels().end() ? nullptr : &found->second;
}

// Handles the jobs of one priority. Each placement changes the levels and lines, so they are looked
// up again every time.
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
    const bool is_still = first != line->second.firsts.end() && is_open(turn.user, *first->second);
    if (is_still) take_turn(turn.order);
    if ((now = level(priority)) == nullptr) break;
    const bool is_behind = lane_.head_ || lane_.aside_.count(turn.user) != 0;
    line_up(*now, turn.user, turn.rounds + (is_still && is_behind ? 1 : 0));
  }
  turns_.clear();
}

std::optional<std::uint64_t> Pass::next_at_head(const WaitingJobs::Level& level) const {
  for (const auto& [key, user] : level.at_head) {
    std::optional<std::uint64_t> first;
    for (const std::uint64_t order : level.heads_until(user, key.second))
      if (!first && is_open(user, lane_.jobs_.class_of(order))) first = order;
    if (const auto line = level.users.find(user); line != level.users.end())
      for (const auto& [older, kind] : line->second.firsts)
        if (older < first.value_or(key.second) && is_open(user, *kind)) return older;
    if (first) return first;
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
    if (!is_open(user, *kind)) continue;
    const Job& job = *cluster_.state.job(cluster_.state.queue().at(order));
    const double share =
        level.users.size() > 1 ? cluster_.state.shares().share_of(job.pool, user, cluster_.now) : 0;
    turns_.insert({rounds, share, order, user});
    return;
  }
}

bool Pass::is_open(const std::string& user, const JobClass& kind) const {
  if (lane_.parked_.count(kind.shape) != 0) return false;
  const auto aside = lane_.aside_.find(user);
  if (aside == lane_.aside_.end() && !lane_.head_) return true;
  if (aside != lane_.aside_.end() && aside->second.is_spent()) return false;
  return lane_.full_.count(kind.shape) == 0 && !lane_.is_closed(user, kind);
}

bool Pass::is_spent() const { return lane_.head_ && lane_.head_->is_spent(); }

void Pass::count_test(Lane::Head& head, const Job& job) {
  ++head.tests;
  head.nodes_tested += cluster_.state.nodes_of(job.pool).size();
}

void Pass::take_turn(std::uint64_t order) {
  const Job& job = *cluster_.state.job(cluster_.state.queue().at(order));
  const JobClass kind = lane_.jobs_.class_of(order);
  if (is_over_quota(job)) return hold(job, std::nullopt);
  if (const auto full = lane_.full_.find(kind.shape); full != lane_.full_.end())
    return make_head(job, full->second);
  try_to_place(job, kind);
}

// True if the job would be beyond a quota. Computing its least demand looks at all nodes, so it is
// left out if no quota is set.
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

// Makes the job the head, because it is the first that has to wait. Its turn to keep nodes begins
// when it waits for jobs of other users.
void Pass::make_head(const Job& job, const Why& why) {
  const auto before = before_.find(job.order);
  const Job::Waiting& waiting = job.waiting();
  Lane::Head head{
      job.order, job.spec.queue.priority, job.spec.submitter,
      why,       reserve(cluster_, job),  waiting.at_head ? waiting.head_since : cluster_.now};
  const bool begins =
      before != before_.end() && before->second.waited_for_own && !head.reservation.waits_for_own;
  const auto kept = lane_.kept_since_.find(job.spec.submitter);
  if (begins)
    head.reservation.take_turns(cluster_.now, cluster_.now);
  else if (kept != lane_.kept_since_.end())
    head.reservation.take_turns(kept->second, cluster_.now);
  fresh_.insert(job.order);
  if (head.reservation.is_open && lane_.aside_.size() < kMostAside)
    lane_.aside_.insert_or_assign(job.spec.submitter, std::move(head));
  else
    lane_.head_ = std::move(head);
  if (!waiting.at_head || begins) moves_.at_head(job);
  if (before == before_.end() || before->second.why != why) moves_.waits(job);
}

void Pass::try_to_place(const Job& job, const JobClass& kind) {
  Placement placement = place(cluster_, job);
  if (const auto* impossible = std::get_if<Impossible>(&placement))
    return lane_.park(cluster_.state, kind.shape, *impossible, moves_);
  const std::vector<Lane::Head*> heads = heads_before(job);
  if (auto* placed = std::get_if<Placed>(&placement))
    return place_behind(heads, job, kind, std::move(*placed));
  const Why& why = std::get<Blocked>(placement).why;
  lane_.full_.emplace(kind.shape, why);
  if (heads.empty()) return make_head(job, why);
  count_test(*heads.front(), job);
}

std::vector<Lane::Head*> Pass::heads_before(const Job& job) {
  std::vector<Lane::Head*> heads;
  if (lane_.head_) heads.push_back(&*lane_.head_);
  const auto aside = lane_.aside_.find(job.spec.submitter);
  if (aside != lane_.aside_.end()) heads.push_back(&aside->second);
  return heads;
}

Reservation& Pass::fresh(Lane::Head& head) {
  if (fresh_.insert(head.order).second)
    head.reservation =
        reserve(cluster_, *cluster_.state.job(cluster_.state.queue().at(head.order)));
  return head.reservation;
}

void Pass::close(Lane::Head& head, const Job& job, const JobClass& kind) {
  const bool is_of_all = lane_.head_ && &head == &*lane_.head_;
  lane_.closed_.insert({is_of_all ? "" : job.spec.submitter, kind});
  count_test(head, job);
}

// Places the job where none of these heads needs its nodes at the time when that head starts. If
// two heads keep nodes, the job may wait although it could lie beside both: each try looks at one
// head.
std::optional<Placed> Pass::place_beside(const std::vector<Lane::Head*>& heads, const Job& job,
                                         const JobClass& kind) {
  std::optional<Placed> found;
  for (Lane::Head* head : heads) {
    Cluster rest = cluster_;
    rest.kept = &head->reservation.kept;
    Placement again = place(rest, job);
    if (!std::holds_alternative<Placed>(again)) {
      close(*head, job, kind);
      return std::nullopt;
    }
    found = std::get<Placed>(std::move(again));
  }
  for (Lane::Head* head : heads)
    for (const PartPlacement& part : found->parts)
      if (!head->reservation.kept.leaves_room(*cluster_.state.node(part.node), kind.shape)) {
        close(*head, job, kind);
        return std::nullopt;
      }
  return found;
}

void Pass::place_behind(const std::vector<Lane::Head*>& heads, const Job& job, const JobClass& kind,
                        Placed placed) {
  std::vector<Lane::Head*> in_need;  // heads that start while the job may still run
  for (Lane::Head* head : heads)
    if (!fresh(*head).ends_before(cluster_.now, kind.longest)) in_need.push_back(head);
  if (!in_need.empty()) {
    auto beside = place_beside(in_need, job, kind);
    if (!beside) return;
    placed = *std::move(beside);
  }
  for (Lane::Head* head : heads) {
    const bool ends_before = std::find(in_need.begin(), in_need.end(), head) == in_need.end();
    placed.why.push_back(
        WentBeforeJob{head->reservation.kept.job,
                      head->reservation.start(),
                      ends_before ? GoesFirst::ends_before : GoesFirst::fits_beside,
                      {}});
  }
  record_passed(job, kind, placed);
  for (Lane::Head* head : in_need) head->reservation.take(placed);
  place_now(job, std::move(placed));
}

// Records the heads of other users, standing aside, whose nodes the job takes.
void Pass::record_passed(const Job& job, const JobClass& kind, Placed& placed) {
  for (auto& [user, head] : lane_.aside_) {
    const KeptNodes& kept = head.reservation.kept;
    const auto takes = [&](const PartPlacement& part) {
      return !kept.leaves_room(*cluster_.state.node(part.node), kind.shape);
    };
    if (user == job.spec.submitter || head.priority < job.spec.queue.priority) continue;
    if (std::none_of(placed.parts.begin(), placed.parts.end(), takes)) continue;
    WentBeforeJob went{kept.job, head.reservation.start(), GoesFirst::own_user, {}};
    if (!head.reservation.waits_for_own) {
      went.how = GoesFirst::nodes_are_open;
      went.open_until = head.reservation.changes_at;
    }
    placed.why.push_back(std::move(went));
    head.reservation.take(placed);
  }
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

void run_pass(Lane& lane, const Cluster& cluster, const Lane::Moves& moves) {
  if (!lane.dirty_) return;
  const State& state = cluster.state;
  const auto job_at = [&](std::uint64_t order) { return state.job(state.queue().at(order)); };
  lane.now_ = cluster.now;
  for (const std::uint64_t order : std::exchange(lane.unsaid_, {})) {
    const auto parked = lane.parked_.find(lane.jobs_.class_of(order).shape);
    if (parked == lane.parked_.end()) continue;
    parked->second.orders.insert(order);
    moves.waits(*job_at(order));
    // The reason changes with time alone, once the target has had long enough to get nodes.
    if (state.nodes_of(job_at(order)->pool).size() == 0) lane.topology_dirty_ = true;
  }
  if (std::exchange(lane.topology_dirty_, false)) {
    lane.unpark(cluster, moves);
    lane.over_quota_.nodes_changed();
  }
  if (std::exchange(lane.retest_, false)) {
    lane.forget_heads();
    lane.full_.clear();
  }
  for (const std::uint64_t order : lane.over_quota_.take_fitting(state))
    lane.jobs_.add(*job_at(order), class_of(cluster.config, *job_at(order)));
  Pass(lane, cluster, moves).run(std::exchange(lane.known_, {}));
  lane.dirty_ = false;
}

}  // namespace lockstep::launcher
