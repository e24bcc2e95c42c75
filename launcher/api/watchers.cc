#include "launcher/api/watchers.h"

#include <fmt/format.h>

namespace lockstep::launcher {

Status Watchers::add(const JobId& job, const Asker& asker) {
  auto& watchers = by_job_[job];
  Asker kept = asker;
  kept.share.reset();  // watches have a limit of their own
  if (const auto known = watchers.find(asker.connection); known != watchers.end()) {
    known->second = std::move(kept);
    return {};
  }
  const std::string user = owner_of(asker.caller);
  const auto refuse = [&](std::string why) {
    if (watchers.empty()) by_job_.erase(job);
    return make_error(
        ErrorCode::resource_exhausted,
        why + "; end some of the commands that wait for jobs, or poll with `lockstep job show`");
  };
  if (watchers.size() >= limits_.of_job)
    return refuse(
        fmt::format("{} connections watch job '{}', the most allowed", watchers.size(), job.value));
  const auto mine = of_user_.find(user);
  if (mine != of_user_.end() && mine->second >= limits_.of_user)
    return refuse(fmt::format("user '{}' has {} job watches, the most allowed for one user", user,
                              mine->second));
  if (count_ >= limits_.all)
    return refuse(fmt::format("there are {} job watches, the most allowed", count_));
  watchers.emplace(asker.connection, std::move(kept));
  filled_last_ = (filled_last_ + 1) % kRounds;
  rounds_[filled_last_].emplace(job, asker.connection);
  by_connection_[asker.connection].emplace(job, filled_last_);
  ++of_user_[user];
  ++count_;
  return {};
}

const std::map<std::string, Asker>* Watchers::of(const JobId& job) const {
  const auto found = by_job_.find(job);
  return found == by_job_.end() ? nullptr : &found->second;
}

// Removes everything but the entry in by_job_.
void Watchers::forget(const JobId& job, const Asker& asker) {
  const auto jobs = by_connection_.find(asker.connection);
  const auto watch = jobs->second.find(job);
  rounds_[watch->second].erase({job, asker.connection});
  jobs->second.erase(watch);
  if (jobs->second.empty()) by_connection_.erase(jobs);
  const auto mine = of_user_.find(owner_of(asker.caller));
  if (--mine->second == 0) of_user_.erase(mine);
  --count_;
}

void Watchers::remove_if(const JobId& job, const std::function<bool(const Asker&)>& is_over) {
  const auto found = by_job_.find(job);
  if (found == by_job_.end()) return;
  std::erase_if(found->second, [&](const auto& one) {
    const Asker asker = one.second;
    const bool goes = is_over(asker);
    if (goes) forget(job, asker);
    return goes;
  });
  if (found->second.empty()) by_job_.erase(found);
}

void Watchers::job_is_over(const JobId& job) {
  remove_if(job, [](const Asker&) { return true; });
}

void Watchers::remove_key(const PublicKey& key) {
  std::vector<JobId> jobs;
  for (const auto& [job, watchers] : by_job_) jobs.push_back(job);
  for (const JobId& job : jobs)
    remove_if(job, [&](const Asker& asker) { return asker.key == key; });
}

void Watchers::gone(const std::string& connection) {
  const auto found = by_connection_.find(connection);
  if (found == by_connection_.end()) return;
  std::vector<JobId> jobs;
  for (const auto& [job, round] : found->second) jobs.push_back(job);
  for (const JobId& job : jobs)
    remove_if(job, [&](const Asker& asker) { return asker.connection == connection; });
}

void Watchers::drop_gone(const std::function<bool(const std::string& connection)>& is_gone) {
  std::vector<std::string> connections;
  for (const auto& [connection, jobs] : by_connection_)
    if (is_gone(connection)) connections.push_back(connection);
  for (const std::string& connection : connections) gone(connection);
}

std::vector<std::pair<JobId, Asker>> Watchers::next_round() {
  named_last_ = (named_last_ + 1) % kRounds;
  std::vector<std::pair<JobId, Asker>> round;
  for (const auto& [job, connection] : rounds_[named_last_])
    round.emplace_back(job, by_job_.at(job).at(connection));
  return round;
}

}  // namespace lockstep::launcher
