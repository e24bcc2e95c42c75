// Tells the watchers of jobs how these change.

#include <algorithm>
#include <utility>

#include "launcher/api/queries/queries.h"
#include "launcher/api/queries/viewer.h"
#include "launcher/api/service.h"

namespace lockstep::launcher {

namespace {

// How often watchers get views of a pipeline or a large gang.
constexpr Duration kViewEvery = milliseconds(250);
constexpr int kMostPartsAtOnce = 64;  // gangs with more parts are large
constexpr Duration kRoundEvery = kStillWatchingEvery / Watchers::kRounds;

bool has_large_view(const Job& job) {
  const Attempt* attempt = job.last_attempt();
  return job.steps || (attempt != nullptr && attempt->size() > kMostPartsAtOnce);
}

}  // namespace

void Service::perform(const RevokeUser& action) { watchers_.remove_key(action.key); }

// Watchers that have gone are searched only if that makes room.
Status Service::watch(const Asker& asker, const JobId& job) {
  Status added = watchers_.add(job, asker);
  if (added) return added;
  watchers_.drop_gone(
      [this](const std::string& connection) { return ports_.replies.is_gone(connection); });
  return watchers_.add(job, asker);
}

void Service::flush() {
  for (const auto& id : std::exchange(changed_jobs_, {})) {
    if (watchers_.of(id) == nullptr)
      told_views_.erase(id);
    else if (until_next_view(id) > Duration::zero())
      changed_jobs_.insert(id);
    else
      tell_of_change(id);
  }
  tell_next_rounds();
}

// The time until watchers get the job's next view. The view of a pipeline grows with its steps and
// a gang's with its nodes, and each of them changes it. So watchers get these views at intervals,
// but another status at once.
Duration Service::until_next_view(const JobId& id) {
  const Job* job = state().job(id);
  if (job == nullptr || job->finish() || !has_large_view(*job)) {
    told_views_.erase(id);
    return Duration::zero();
  }
  const Instant now = ports_.clock.now();
  const JobStatus status = job->status();
  const auto [told, is_first] = told_views_.try_emplace(id, ToldView{now, status});
  const bool is_at_once = is_first || told->second.status != status;
  const Duration left = is_at_once ? Duration::zero() : told->second.at + kViewEvery - now;
  if (left <= Duration::zero()) told->second = {now, status};
  return left;
}

void Service::tell_of_change(const JobId& id) {
  const Job* known = state().job(id);
  if (known == nullptr) return watchers_.job_is_over(id);
  const Job& job = *known;
  const auto view = core().job_view(id, detail_for_watchers(job));
  // Roles may have changed since the watch began.
  watchers_.remove_if(id,
                      [&](const Asker& asker) { return !Viewer(state(), asker.caller).sees(job); });
  if (const auto* watchers = watchers_.of(id))
    for (const auto& [connection, asker] : *watchers)
      ports_.replies.send(connection, 0, JobUpdate{Viewer(state(), asker.caller).cut(*view)});
  if (is_final(view->status)) watchers_.job_is_over(id);
}

// Sends the next rounds. A loop that was delayed catches up with the rounds of one interval, no
// more.
void Service::tell_next_rounds() {
  const Instant now = ports_.clock.now();
  if (watchers_.count() == 0) {
    next_round_ = now + kRoundEvery;
    return;
  }
  next_round_ = std::max(next_round_, now - kStillWatchingEvery + kRoundEvery);
  if (next_round_ > now) return;
  const Instant started = ports_.launcher.info().started;
  for (; next_round_ <= now; next_round_ = next_round_ + kRoundEvery)
    for (const auto& [id, asker] : watchers_.next_round()) {
      const Job* job = state().job(id);
      if (job != nullptr && Viewer(state(), asker.caller).sees(*job))
        ports_.replies.send(asker.connection, 0, StillWatching{id, started});
    }
}

Duration Service::wait() const {
  if (watchers_.count() == 0) return Duration::max();
  Instant due = next_round_;
  for (const JobId& id : changed_jobs_)  // large jobs, whose watchers get the view later
    if (const auto told = told_views_.find(id); told != told_views_.end())
      due = std::min(due, told->second.at + kViewEvery);
  return std::max(due - ports_.clock.now(), Duration::zero());
}

void Service::gone(const std::string& connection) { watchers_.gone(connection); }

}  // namespace lockstep::launcher
