#include "launcher/core/explain/explain.h"

#include <algorithm>
#include <set>
#include <vector>

#include "common/domain/why/jobs/explain.h"
#include "launcher/core/explain/state_views.h"
#include "launcher/core/placement/new_machines.h"
#include "launcher/core/placement/placement.h"
#include "launcher/core/queue/reservation.h"
#include "launcher/state/found_state.h"
#include "launcher/words/found/say_found.h"
#include "launcher/words/found/say_path.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxAhead = 3;  // jobs that one line names

// How the attempt ended; if the previous attempt ended the same way, only that. This keeps the
// answer short: the text of a container engine may fill a page.
Why said_once(const Job& job, const Attempt& attempt) {
  const auto before = static_cast<std::size_t>(&attempt - job.attempts.data());
  const bool same = before > 0 && job.attempts[before - 1].ended &&
                    job.attempts[before - 1].ended->why == attempt.ended->why;
  if (same) return AttemptEndedLike{job.attempts[before - 1].id.number};
  return AttemptEndedWith{attempt.ended->cause, attempt.ended->why};
}

Why jobs_ahead(const Scheduler& scheduler, const Job& job) {
  JobsAreAhead ahead;
  scheduler.visit(job.pool, [&](const Job& other) {
    if (other.order == job.order) return false;
    if (scheduler.is_parked(other)) return true;
    if (ahead.jobs.size() == kMaxAhead) {
      ++ahead.more;
      return true;
    }
    const Priority priority = other.spec.queue.priority;
    ahead.jobs.push_back({other.id, {}});
    if (priority != job.spec.queue.priority) ahead.jobs.back().priority = priority;
    return true;
  });
  return ahead.jobs.empty() ? Why() : Why(std::move(ahead));
}

// The number of users whose jobs go first, if other users' jobs of the same priority wait too. The
// head keeps its place, whatever the shares are.
Why users_share(const Cluster& cluster, const Scheduler& scheduler, const Job& job) {
  constexpr int kMostVisited = 1'000;
  const auto share_of = [&](const std::string& user) {
    return cluster.state.shares().share_of(job.pool, user, cluster.now);
  };
  const std::string& user = job.spec.submitter;
  const double share = share_of(user);
  std::set<std::string> less, more;
  int visited = 0;
  scheduler.visit(job.pool, [&](const Job& other) {
    const std::string& name = other.spec.submitter;
    const bool counts = other.spec.queue.priority == job.spec.queue.priority && name != user;
    if (counts) (share_of(name) < share ? less : more).insert(name);
    return ++visited < kMostVisited;
  });
  if (job.waiting().at_head || (less.empty() && more.empty())) return {};
  return ShareOfUser{user, share, job.pool, job.spec.queue.priority, static_cast<int>(less.size())};
}

// The change that would let the job start before the head; none: nothing would.
Why way_ahead(const Cluster& cluster, const Job& job, const Reservation& reservation) {
  if (!std::holds_alternative<Placed>(place(cluster, job))) return {};
  JobSpec shortest = job.spec;
  shortest.timeout = Duration::zero();
  const Duration window = reservation.at ? *reservation.at - cluster.now : kLongestBackfill;
  const auto timeout =
      std::chrono::floor<seconds>(window - *longest_hold(cluster.config, shortest));
  if (timeout < seconds(1)) return CouldStartBefore{reservation.kept.job, {}, {}};
  return CouldStartBefore{reservation.kept.job, timeout, job.spec.timeout};
}

// The users who may not take the nodes that are kept for the job, while it is unknown when the job
// starts.
Why turn_of(const Cluster& cluster, const Lane::Head& head, const Job& job) {
  const auto pool = cluster.state.shares().pools().find(job.pool);
  const bool is_alone = pool == cluster.state.shares().pools().end() ||
                        std::all_of(pool->second.users.begin(), pool->second.users.end(),
                                    [&](const auto& item) { return item.first == head.user; });
  if (is_alone) return {};
  const Reservation& reservation = head.reservation;
  if (reservation.waits_for_own) return WaitsForOwnUser{head.user};
  if (reservation.changes_at == Instant::never()) return {};
  return NodesAreKept{reservation.is_open, reservation.changes_at};
}

// Explains a job that waits for nodes: its place in the queue, and whether each node could take it.
void explain_queue(const Cluster& cluster, const Scheduler& scheduler, const Job& job,
                   LinesFor& lines) {
  const auto add = [&](Why why, int indent = 0) {
    lines.add(WordsOf::launcher, std::move(why), {}, indent);
  };
  const bool is_parked = scheduler.is_parked(job);
  if (!is_parked) {
    add(jobs_ahead(scheduler, job));
    add(users_share(cluster, scheduler, job));
  }
  if (const Lane::Head* own = scheduler.head_of(job)) add(turn_of(cluster, *own, job));
  Cluster seen = cluster;
  Reservation reservation;
  const Lane::Head* head = scheduler.head_before(job);
  if (head != nullptr && !is_parked) {
    reservation = reserve(cluster, *cluster.state.job(cluster.state.queue().at(head->order)));
    if (!reservation.ends_before(cluster.now, longest_hold(cluster.config, job.spec))) {
      seen.kept = &reservation.kept;
      add(way_ahead(cluster, job, reservation));
    }
  }
  const Size* size = size_of_target(cluster, job.pool);
  add(JobAsksFor{asked_for(shape_of(job.spec)), job.pool, size == nullptr ? "" : size->name});
  for (Why& why : explain_nodes(seen, job)) add(std::move(why), 1);
}

// The findings about the gang's ranks, and what a person can do about them.
void explain_ranks(const State& state, const Attempt& attempt, const AttemptView& view,
                   LinesFor& lines) {
  const words::About names = about(state, attempt);
  for (const Found& found : view.found) {
    const words::Said whole = words::say(found, names);
    const words::Said outline = words::say(without_contents(found), names);
    lines.add(WordsOf::job, told(whole.what), told(outline.what), 1);
    if (!attempt.ended) lines.add(WordsOf::job, told(whole.remedy), {}, 2);
  }
  if (!view.probe) return;
  const std::vector<PathFailure> broken = words::broken_paths(*view.probe);
  if (broken.empty()) return;
  const words::Said failure = words::say_all(broken, names);
  lines.add(WordsOf::job, told(failure.what), SomeNodesAreApart{}, 1);
  lines.add(WordsOf::job, told(failure.remedy), {}, 2);
}

}  // namespace

ExplainView explain(const Cluster& cluster, const Scheduler& scheduler, const Job& job) {
  ExplainView view;
  view.job = view_of(cluster, scheduler, job, scheduler.position(job), ViewDetail::outline);
  LinesFor lines;
  lines.add(WordsOf::launcher, job.spec.compute_why);
  if (job.spec.binding != Binding::automatic)
    lines.add(WordsOf::launcher, RanksAreBound{job.spec.binding});
  for (std::size_t i = 0; i < job.attempts.size(); ++i) {
    const Attempt& attempt = job.attempts[i];
    lines.add(WordsOf::launcher, AttemptWasPlaced{attempt.id.number, attempt.placed});
    for (const Why& why : attempt.why) lines.add(WordsOf::launcher, why, {}, 1);
    explain_ranks(cluster.state, attempt, view.job.attempts[i], lines);
    if (attempt.ended)
      lines.add(WordsOf::job, said_once(job, attempt), AttemptEndedWith{attempt.ended->cause, {}},
                1);
    if (!attempt.retried) continue;
    const auto [why, of] = what_followed(attempt.retried);
    lines.add(of, AttemptWasFollowed{why}, AttemptWasFollowed{}, 1);
  }
  if (job.is_queued()) {
    const auto in_queue = [&](const Why& why) {
      if (view.job.queue_position == 0) return why;
      return Why(PlaceInQueue{view.job.queue_position, job.spec.queue.priority, why});
    };
    lines.add(WordsOf::job, in_queue(view.job.why), in_queue(view.job.why_for_all));
    if (scheduler.has(job)) explain_queue(cluster, scheduler, job, lines);
  }
  view.reasons = std::move(lines.lines);
  return view;
}

}  // namespace lockstep::launcher
