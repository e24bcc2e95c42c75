#include "launcher/core/jobs/retention.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "common/domain/messages/no_such_job.h"
#include "common/domain/why/jobs/orders.h"
#include "launcher/core/access/users.h"
#include "launcher/core/jobs/children.h"
#include "launcher/core/queue/quotas.h"

namespace lockstep::launcher {

namespace {

// The least time: a client that waits for a job's end must be able to ask for its last log lines.
constexpr Duration kKeptAtLeast = minutes(1);
// Long enough that a late agent learns why its token is refused.
constexpr Duration kTokenRemembered = minutes(24 * 60);
constexpr Duration kNextSlice = milliseconds(10);

std::uint64_t milliseconds_of(Instant at) { return static_cast<std::uint64_t>(at.ns / 1'000'000); }

std::optional<Error> not_deletable(const State& state, const JobId& id) {
  const Job* job = state.job(id);
  if (job == nullptr) return no_such_job(id);
  const JobId& parent = job->spec.parent;
  if (!job->spec.step.empty() && state.job(parent) != nullptr)
    return make_error(
        ErrorCode::conflict,
        fmt::format("job '{}' is step '{}' of pipeline '{}', and stays as long as that: lockstep "
                    "job delete {}",
                    id.value, job->spec.step, parent.value, parent.value));
  const Job* open = job->is_final() ? open_descendant(state, *job) : nullptr;
  if (open != nullptr)
    return make_error(ErrorCode::conflict,
                      fmt::format("job '{}', which was submitted by job '{}', is {}; end it first: "
                                  "lockstep job cancel {}",
                                  open->id.value, open->spec.parent.value,
                                  to_string(open->status()), open->id.value));
  if (job->is_final()) return std::nullopt;
  return make_error(ErrorCode::conflict,
                    fmt::format("job '{}' is {}; only jobs that have ended can be deleted, so end "
                                "it first: lockstep job cancel {}",
                                id.value, to_string(job->status()), id.value));
}

Decision delete_decision(const Context& core, const Caller& caller, const Job& job) {
  return may(core.state.principals(), caller, Permission::delete_job, object_of(job));
}

// The job's project; "": the job does not exist.
std::string project_of(const State& state, const JobId& id) {
  const Job* job = state.job(id);
  if (job == nullptr) return "";
  return job->spec.project.empty() ? std::string(kDefaultProject) : job->spec.project;
}

void delete_one(Context& core, const JobId& id, const std::string& by, const Why& why) {
  const Job& job = *core.state.job(id);
  ForgetJob forget{id, {}, why};
  forget.is_by_limit = by.empty() && job.spec.step.empty();
  forget.project = project_of(core.state, id);
  std::uint64_t incarnation = job.incarnation;
  for (const Attempt& attempt : job.attempts) {
    forget.attempts.push_back(attempt.id);
    incarnation = std::max(incarnation, attempt.id.incarnation);
  }
  core.emit(
      JobDeleted{id, by, job.submission, std::max(incarnation + 1, milliseconds_of(core.now))});
  core.act(std::move(forget));
}

// Deletes the job and the jobs of its steps. The pipeline is deleted first, because its state names
// its steps.
void delete_job(Context& core, const JobId& id, const std::string& by, const Why& why) {
  std::vector<JobId> steps;
  if (const Job& job = *core.state.job(id); job.steps) steps = job.steps->jobs();
  delete_one(core, id, by, why);
  for (const JobId& step : steps) delete_one(core, step, by, why);
}

// Deletes the job with all jobs below it, which have ended.
void delete_family(Context& core, const JobId& id, const std::string& by) {
  const std::vector<JobId> others = descendants(core.state, *core.state.job(id));
  const Why why = DeletedBy{by};
  delete_one(core, id, by, why);
  for (const JobId& other : others) delete_one(core, other, by, why);
}

// The job that has to be deleted next because of a limit.
struct Beyond {
  // the time at which it must be deleted; never(): no job is beyond a limit
  Instant due = Instant::never();
  EndedJobs::Place place = {};
  Why why = {};
};

Beyond beyond_age(const State& state, const Retention& keeps) {
  if (keeps.jobs_for <= Duration(0) || state.ended().empty()) return {};
  const EndedJobs::Place& first = state.ended().begin()->first;
  return {first.first + keeps.jobs_for, first, KeptLongEnough{keeps.jobs_for}};
}

// The job to delete while all jobs together are beyond a limit: one of the user who has most. A
// user with no more than an equal share loses none.
Beyond beyond_share(const State& state, EndedJobs::What what, std::uint64_t has,
                    std::uint64_t most) {
  if (most == 0 || has <= most) return {};
  const auto largest = state.ended_jobs().largest(what, most);
  if (!largest) return {};
  TooMuchKept why{KeptWhat::jobs, has, most, *largest->user, largest->has};
  switch (what) {
    case EndedJobs::What::jobs: break;
    case EndedJobs::What::logs: why.what = KeptWhat::logs; break;
    case EndedJobs::What::outputs: why.what = KeptWhat::outputs; break;
  }
  return {largest->place.first + kKeptAtLeast, largest->place, std::move(why)};
}

// The job to delete of a user who is beyond a quota of their own.
Beyond beyond_quotas(const State& state) {
  Beyond next;
  for (const auto& [holder, quota] : state.principals().quotas()) {
    if (holder.kind != QuotaHolder::Kind::user) continue;
    const auto most = quota.find(QuotaLimit::kept_jobs);
    const std::uint64_t has = of(state.usage().of(holder), QuotaLimit::kept_jobs);
    if (most == quota.end() || has <= most->second) continue;
    const EndedJobs::Place* place = state.ended_jobs().first_of(holder.name);
    if (place == nullptr || place->first + kKeptAtLeast >= next.due) continue;
    next = {place->first + kKeptAtLeast, *place, QuotaOfKept{holder.name, has, most->second}};
  }
  return next;
}

Beyond next_beyond(const State& state, const Retention& keeps) {
  using What = EndedJobs::What;
  const JobSize& size = state.ended_size();
  Beyond next = beyond_age(state, keeps);
  if (Beyond of_quota = beyond_quotas(state); of_quota.due < next.due) next = std::move(of_quota);
  for (Beyond& one :
       std::array{beyond_share(state, What::jobs, state.ended().size(), keeps.jobs),
                  beyond_share(state, What::logs, size.logs.count, keeps.logs.count),
                  beyond_share(state, What::outputs, size.outputs.count, keeps.outputs.count)})
    if (one.due < next.due) next = std::move(one);
  return next;
}

}  // namespace

std::uint64_t incarnation_of_new(const State& state, const JobId& job) {
  const auto deleted = state.deleted().last().find(job);
  return deleted == state.deleted().last().end() ? 0 : deleted->second.incarnation;
}

void delete_left_steps(Context& core) {
  std::vector<JobId> left;
  for (const auto& [id, job] : core.state.jobs()) {
    const JobId& parent = job.spec.parent;
    if (!job.spec.step.empty() && core.state.job(parent) == nullptr) left.push_back(id);
  }
  for (const JobId& id : left) delete_one(core, id, "", PipelineDeleted{});
}

namespace {

// Deletes the jobs that the request names.
void delete_named(Context& core, const DeleteInput& input, JobsDeleted& result) {
  const std::size_t named = std::min(input.jobs.size(), kMaxDeletionsAtOnce);
  for (std::size_t i = 0; i < named; ++i) {
    const JobId& id = input.jobs[i];
    const bool before = core.state.job(id) == nullptr && core.state.deleted().last().count(id) != 0;
    auto error = before ? std::nullopt : not_deletable(core.state, id);
    if (const Job* job = core.state.job(id)) {
      Decision decision = delete_decision(core, input.caller, *job);
      if (!decision.allowed)
        error = make_error(ErrorCode::permission_denied, std::move(decision.why));
    }
    const std::string project = project_of(core.state, id);
    if (error) {
      result.kept.push_back({id, error->code, std::move(error->message), project});
      continue;
    }
    result.projects.push_back(project);
    // A job that was deleted before was named by an earlier copy of this request, whose answer was
    // lost.
    if (!before) delete_family(core, id, name_of(input.caller));
    result.jobs.push_back(id);
  }
  result.more = static_cast<std::int64_t>(input.jobs.size() - named);
}

// The ended jobs that a request without names selects, as many as may still be deleted at once. The
// others are counted in `result`. Only the caller's own jobs are selected, unless the caller may
// delete jobs of all users.
std::vector<JobId> all_ended(const Context& core, const DeleteInput& input, JobsDeleted& result) {
  std::vector<JobId> old;
  const std::string by = name_of(input.caller);
  const bool is_launcher = std::holds_alternative<LauncherItself>(input.caller);
  for (const auto& [when, id] : core.state.ended()) {
    if (when.first + input.older_than > core.now) break;
    const bool is_own = core.state.job(id)->spec.submitter == by;
    if (!is_own && !input.all_users && !is_launcher) continue;
    if (old.size() + result.jobs.size() < kMaxDeletionsAtOnce)
      old.push_back(id);
    else
      ++result.more;
  }
  return old;
}

void delete_ended(Context& core, const std::vector<JobId>& old, const std::string& by,
                  JobsDeleted& result) {
  for (const JobId& id : old) {
    const Job* job = core.state.job(id);  // null: the job was deleted together with its parent
    if (job != nullptr && open_descendant(core.state, *job) != nullptr) {
      Error why = *not_deletable(core.state, id);
      result.kept.push_back({id, why.code, std::move(why.message), project_of(core.state, id)});
      continue;
    }
    result.projects.push_back(project_of(core.state, id));
    if (job != nullptr) delete_family(core, id, by);
    result.jobs.push_back(id);
  }
}

}  // namespace

void react(Context& core, const DeleteInput& input) {
  if (input.all_users && !permitted(core, input.reply, input.caller, Permission::delete_all_jobs))
    return;
  JobsDeleted result;
  delete_named(core, input, result);
  if (input.all_final)
    delete_ended(core, all_ended(core, input, result), name_of(input.caller), result);
  core.act(ReplyDeleted{input.reply, std::move(result)});
}

void retain(Context& core) {
  if (!core.retention.is_due && core.now < core.retention.at) return;
  core.retention.is_due = false;
  Beyond next = next_beyond(core.state, core.config.keeps);
  for (std::size_t i = 0; i < kMaxDeletionsAtOnce && next.due <= core.now; ++i) {
    delete_job(core, JobId(core.state.ended().at(next.place)), "", next.why);
    next = next_beyond(core.state, core.config.keeps);
  }
  Instant due = next.due;
  std::vector<Digest> useless;
  for (const auto& [hash, token] : core.state.tokens()) {
    const Instant forgotten = token.expires + kTokenRemembered;
    if (forgotten <= core.now)
      useless.push_back(hash);
    else
      due = std::min(due, forgotten);
  }
  for (const Digest& hash : useless) core.emit(TokenForgotten{hash});
  core.retention.at = std::max(due, core.now + kNextSlice);
}

}  // namespace lockstep::launcher
