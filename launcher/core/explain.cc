// `lockstep job explain`: why a job was placed where it was, or why it waits and what would let it
// start earlier.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "launcher/core/counted.h"
#include "launcher/core/found_state.h"
#include "launcher/core/reservation.h"
#include "launcher/core/size_check.h"
#include "launcher/core/views.h"
#include "launcher/words/found.h"
#include "launcher/words/path.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxAhead = 3;  // jobs named in one line

// The attempt's end; of one that ended as the attempt before, only that. What a container engine
// says may be a page.
std::string said_once(const Job& job, const Attempt& attempt) {
  const auto before = static_cast<std::size_t>(&attempt - job.attempts.data());
  const bool same = before > 0 && job.attempts[before - 1].ended &&
                    job.attempts[before - 1].ended->why == attempt.ended->why;
  return same ? fmt::format("as attempt {}", job.attempts[before - 1].id.number)
              : words::text_of(attempt.ended->why);
}

// "ahead of it: job 'a' (priority high), job 'b' and 3 more".
std::string jobs_ahead(const Scheduler& scheduler, const Job& job) {
  std::vector<std::string> named;
  std::size_t count = 0;
  scheduler.visit(job.pool, [&](const Job& other) {
    if (other.order == job.order) return false;
    const bool is_parked = scheduler.is_parked(other);
    if (is_parked || ++count > kMaxAhead) return true;
    const Priority priority = other.spec.queue.priority;
    named.push_back(fmt::format("job '{}'", other.id.value));
    if (priority != job.spec.queue.priority)
      named.back() += fmt::format(" (priority {})", to_string(priority));
    return true;
  });
  if (named.empty()) return "";
  std::string text = fmt::format("ahead of it: {}", fmt::join(named, ", "));
  if (count > named.size()) text += fmt::format(" and {} more", count - named.size());
  return text;
}

// How many users' jobs go first: only if other users' jobs of its priority wait too. The head keeps
// its place whatever the shares.
std::string shares_line(const Cluster& cluster, const Scheduler& scheduler, const Job& job) {
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
  if (job.at_head || (less.empty() && more.empty())) return "";
  const std::string others =
      less.empty() ? "no user with a smaller share waits"
                   : fmt::format("{} with a smaller share {} first", counted(less.size(), "user"),
                                 less.size() == 1 ? "goes" : "go");
  return fmt::format(
      "user {} has a share of {:.2f} of target '{}' (what its jobs hold, and its recent use); "
      "within priority {} {}",
      user, share, job.pool, to_string(job.spec.queue.priority), others);
}

// What would let the job start before the head, if anything would.
std::string way_ahead(const Cluster& cluster, const Job& job, const Reservation& reservation) {
  if (!std::holds_alternative<Placed>(place(cluster, job))) return "";
  JobSpec shortest = job.spec;
  shortest.timeout = Duration::zero();
  const Duration window = reservation.at ? *reservation.at - cluster.now : kLongestBackfill;
  const auto timeout =
      std::chrono::floor<seconds>(window - *longest_hold(cluster.config, shortest));
  if (timeout < seconds(1))
    return fmt::format("it could start only after job '{}'", reservation.kept.job.value);
  return fmt::format(
      "with a limits.timeout of at most {} it could start before job '{}'{}",
      format_duration(timeout), reservation.kept.job.value,
      job.spec.timeout ? fmt::format("; it has {}", format_duration(*job.spec.timeout)) : "");
}

// Whom the nodes that are kept for the job are kept from, if it is unknown when it starts.
std::string turn_line(const Cluster& cluster, const Lane::Head& head, const Job& job) {
  const auto pool = cluster.state.shares().pools().find(job.pool);
  const bool is_alone = pool == cluster.state.shares().pools().end() ||
                        std::all_of(pool->second.users.begin(), pool->second.users.end(),
                                    [&](const auto& item) { return item.first == head.user; });
  if (is_alone) return "";
  const Reservation& reservation = head.reservation;
  if (reservation.waits_for_own)
    return fmt::format("no node is kept from other users: it waits for jobs of its own user, {}",
                       head.user);
  if (reservation.changes_at == Instant::never()) return "";
  const std::string until = to_string(reservation.changes_at);
  if (reservation.is_open)
    return fmt::format(
        "its nodes are open to other users until {}, as nobody knows when it can start", until);
  return fmt::format(
      "its nodes are kept until {}, then they are open to other users for a time, as nobody knows "
      "when it can start",
      until);
}

std::string binding_line(Binding binding) {
  switch (binding) {
    case Binding::automatic: return "";
    case Binding::none:
      return "each rank may use all cpus that the job holds on its node (lockstep.binding: none)";
    case Binding::numa: return "each rank is bound to a NUMA node (lockstep.binding: numa)";
    case Binding::core:
      return "each rank is bound to a core; to a share of the cpus on a node with fewer cores than "
             "ranks (lockstep.binding: core)";
  }
  return "";
}

// Of a job that waits for nodes: its place in the queue, and each node.
void explain_queue(const Cluster& cluster, const Scheduler& scheduler, const Job& job,
                   LinesFor& lines) {
  const auto add = [&](std::string line) { lines.add(WordsOf::launcher, std::move(line)); };
  const bool is_parked = scheduler.is_parked(job);
  if (!is_parked) {
    add(jobs_ahead(scheduler, job));
    add(shares_line(cluster, scheduler, job));
  }
  if (const Lane::Head* own = scheduler.head_of(job)) add(turn_line(cluster, *own, job));
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
  add(fmt::format("asks for {}; target {}{}:", describe(shape_of(job.spec)), job.pool,
                  size == nullptr ? "" : fmt::format(" (size {})", size->name)));
  for (const std::string& line : explain_nodes(seen, job)) add("  " + line);
}

// What the gang found out, and what to do about it.
void explain_ranks(const State& state, const Attempt& attempt, const AttemptView& view,
                   LinesFor& lines) {
  const words::About names = about(state, attempt);
  for (const Found& found : view.found) {
    const words::Said whole = words::say(found, names);
    const words::Said outline = words::say(without_contents(found), names);
    lines.add(WordsOf::job, "  " + whole.what, "  " + outline.what);
    if (!whole.remedy.empty() && !attempt.ended) lines.add(WordsOf::job, "    " + whole.remedy);
  }
  if (!view.probe) return;
  const std::vector<PathFailure> broken = words::broken_paths(*view.probe);
  if (broken.empty()) return;
  const words::Said failure = words::say_all(broken, names);
  lines.add(WordsOf::job, "  " + failure.what, "  some of its nodes cannot reach each other");
  if (!failure.remedy.empty()) lines.add(WordsOf::job, "    " + failure.remedy);
}

}  // namespace

ExplainView explain(const Cluster& cluster, const Scheduler& scheduler, const Job& job) {
  ExplainView view;
  view.job = view_of(cluster, scheduler, job, scheduler.position(job), ViewDetail::outline);
  LinesFor lines;
  lines.add(WordsOf::launcher, job.spec.compute_why);
  lines.add(WordsOf::launcher, binding_line(job.spec.binding));
  for (std::size_t i = 0; i < job.attempts.size(); ++i) {
    const Attempt& attempt = job.attempts[i];
    lines.add(WordsOf::launcher, fmt::format("attempt {} was placed at {}:", attempt.id.number,
                                             to_string(attempt.placed)));
    for (const std::string& why : attempt.why) lines.add(WordsOf::launcher, "  " + why);
    explain_ranks(cluster.state, attempt, view.job.attempts[i], lines);
    if (attempt.ended)
      lines.add(WordsOf::job, "  ended: " + said_once(job, attempt),
                fmt::format("  ended: {}", to_string(attempt.ended->cause)));
    if (!attempt.retried) continue;
    const auto [why, of] = what_followed(attempt.retried);
    lines.add(of, "  then: " + words::text_of(why), "  then: retried");
  }
  if (job.phase == Job::Phase::waiting && !job.cancel_by) {
    const auto in_queue = [&](const std::string& reason) {
      if (view.job.queue_position == 0) return reason;
      return fmt::format("position {} in the queue (priority {}): {}", view.job.queue_position,
                         to_string(job.spec.queue.priority), reason);
    };
    lines.add(WordsOf::job, in_queue(view.job.reason), in_queue(view.job.reason_for_all));
    if (scheduler.has(job)) explain_queue(cluster, scheduler, job, lines);
  }
  view.lines = std::move(lines.readers);
  view.lines_for_all = std::move(lines.all);
  return view;
}

}  // namespace lockstep::launcher
