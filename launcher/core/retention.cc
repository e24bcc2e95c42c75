// What is forgotten: jobs that people delete or that are beyond the limits of what is kept, and
// join tokens that are of no use any more.

#include <fmt/format.h>
#include <algorithm>

#include "launcher/core/reactor.h"

namespace lockstep::launcher {

namespace {

// A client that waits for a job's end still has to ask for its last words.
constexpr Duration kKeptAtLeast = minutes(1);
constexpr Duration kTokenRemembered = minutes(24 * 60);  // so that its late user is told why
constexpr Duration kNextSlice = milliseconds(10);

std::uint64_t milliseconds_of(Instant at) { return static_cast<std::uint64_t>(at.ns / 1'000'000); }

std::string by_person(const std::string& name) { return "deleted by " + name; }

}  // namespace

std::uint64_t Reactor::era_of_new(const JobId& job) const {
  const auto deleted = state_.deleted().last().find(job);
  return deleted == state_.deleted().last().end() ? 0 : deleted->second.era;
}

std::optional<Error> Reactor::not_deletable(const JobId& id) const {
  const Job* job = state_.job(id);
  if (job == nullptr)
    return make_error(ErrorCode::not_found,
                      fmt::format("there is no job '{}'; `lockstep job list` shows all", id.value));
  if (job->phase == Job::Phase::final) return std::nullopt;
  return make_error(ErrorCode::conflict,
                    fmt::format("job '{}' is {}; only jobs that have ended can be deleted, so end "
                                "it first: lockstep job cancel {}",
                                id.value, to_string(job->status()), id.value));
}

void Reactor::delete_job(const JobId& id, const std::string& by, std::string why) {
  const Job& job = *state_.job(id);
  ForgetJob forget{id, {}, std::move(why)};
  std::uint64_t era = job.era;
  for (const Attempt& attempt : job.attempts) {
    forget.attempts.push_back(attempt.id);
    era = std::max(era, attempt.id.era);
  }
  emit(JobDeleted{id, by, job.submission, std::max(era + 1, milliseconds_of(now_))});
  act(std::move(forget));
}

void Reactor::on(const DeleteInput& input) {
  JobsDeleted result;
  const std::size_t named = std::min(input.jobs.size(), kMaxDeletionsAtOnce);
  for (std::size_t i = 0; i < named; ++i) {
    const JobId& id = input.jobs[i];
    const bool before = state_.job(id) == nullptr && state_.deleted().last().count(id) != 0;
    if (auto error = before ? std::nullopt : not_deletable(id)) {
      result.kept.push_back({id, error->code, std::move(error->message)});
      continue;
    }
    if (!before)
      delete_job(id, input.by, by_person(input.by));  // else the answer was lost: asked again
    result.jobs.push_back(id);
  }
  result.more = static_cast<std::int64_t>(input.jobs.size() - named);
  if (input.all_final) {
    std::vector<JobId> old;
    for (const auto& [when, id] : state_.ended()) {
      if (when.first + input.older_than > now_) break;
      if (old.size() + result.jobs.size() < kMaxDeletionsAtOnce)
        old.push_back(id);
      else
        ++result.more;
    }
    for (const JobId& id : old) delete_job(id, input.by, by_person(input.by));
    result.jobs.insert(result.jobs.end(), old.begin(), old.end());
  }
  act(ReplyDeleted{input.reply, std::move(result)});
}

// By number or size; by age it is a matter of time alone.
bool Reactor::over_limits() const {
  const Retention& keeps = config_.keeps;
  const auto over = [](Bytes size, Bytes limit) { return limit.count != 0 && size > limit; };
  return (keeps.jobs != 0 && state_.ended().size() > keeps.jobs) ||
         over(state_.ended_size().logs, keeps.logs) ||
         over(state_.ended_size().outputs, keeps.outputs);
}

// Why the job that ended first is deleted now, in words.
std::string Reactor::why_beyond() const {
  const Retention& keeps = config_.keeps;
  const JobSize& size = state_.ended_size();
  const auto over = [](const char* what, Bytes have, Bytes limit, const char* flag) {
    return fmt::format("ended jobs have {} of {}, more than {} {}", to_string(have), what, flag,
                       to_string(limit));
  };
  const Instant ended = state_.ended().begin()->first.first;
  if (keeps.jobs_for > Duration(0) && ended + keeps.jobs_for <= now_)
    return "it ended longer ago than --keep-jobs-for " + format_duration(keeps.jobs_for);
  if (keeps.jobs != 0 && state_.ended().size() > keeps.jobs)
    return fmt::format("{} jobs have ended, more than --keep-jobs {}", state_.ended().size(),
                       keeps.jobs);
  if (keeps.logs.count != 0 && size.logs > keeps.logs)
    return over("logs", size.logs, keeps.logs, "--keep-logs");
  return over("outputs", size.outputs, keeps.outputs, "--keep-outputs");
}

// When the job that ended first is to be deleted; never() while nothing is beyond the limits.
Instant Reactor::next_deletion() const {
  if (state_.ended().empty()) return Instant::never();
  const Instant ended = state_.ended().begin()->first.first;
  Instant due = Instant::never();
  if (config_.keeps.jobs_for > Duration(0)) due = ended + config_.keeps.jobs_for;
  if (over_limits()) due = std::min(due, ended + kKeptAtLeast);
  return due;
}

void Reactor::retain() {
  if (!retains_ && now_ < retain_at_) return;
  retains_ = false;
  for (std::size_t i = 0; i < kMaxDeletionsAtOnce && next_deletion() <= now_; ++i)
    delete_job(JobId(state_.ended().begin()->second), "", why_beyond());
  Instant due = next_deletion();
  std::vector<Digest> useless;
  for (const auto& [hash, token] : state_.tokens()) {
    const Instant forgotten = token.expires + kTokenRemembered;
    if (forgotten <= now_)
      useless.push_back(hash);
    else
      due = std::min(due, forgotten);
  }
  for (const Digest& hash : useless) emit(TokenForgotten{hash});
  retain_at_ = std::max(due, now_ + kNextSlice);
}

}  // namespace lockstep::launcher
