#include "launcher/state/jobs/ended.h"

namespace lockstep::launcher {

namespace {

std::uint64_t amount_of(const EndedJobs::Holder& holder, EndedJobs::What what) {
  switch (what) {
    case EndedJobs::What::jobs: return holder.jobs.size();
    case EndedJobs::What::logs: return holder.size.logs.count;
    case EndedJobs::What::outputs: return holder.size.outputs.count;
  }
  return 0;
}

const EndedJobs::Place* first_of(const EndedJobs::Holder& holder, EndedJobs::What what) {
  const auto first = [](const std::set<EndedJobs::Place>& places) {
    return places.empty() ? nullptr : &*places.begin();
  };
  switch (what) {
    case EndedJobs::What::jobs:
      return holder.never_ran.empty() ? first(holder.jobs) : first(holder.never_ran);
    case EndedJobs::What::logs: return first(holder.with_logs);
    case EndedJobs::What::outputs: return first(holder.with_outputs);
  }
  return nullptr;
}

}  // namespace

void EndedJobs::count(const std::string& user, const JobSize& size) {
  if (size == JobSize{}) return;
  for (JobSize* sum : {&size_, &holders_[user].size}) {
    sum->logs.count += size.logs.count;
    sum->outputs.count += size.outputs.count;
  }
}

void EndedJobs::discount(const std::string& user, const JobSize& size) {
  if (size == JobSize{}) return;
  for (JobSize* sum : {&size_, &holders_[user].size}) {
    sum->logs.count -= size.logs.count;
    sum->outputs.count -= size.outputs.count;
  }
  drop_if_empty(user);
}

bool EndedJobs::add(const std::string& user, const Place& place, const JobId& job,
                    const Gives& gives) {
  if (!all_.emplace(place, job).second) return false;
  Holder& holder = holders_[user];
  holder.jobs.insert(place);
  if (!gives.ran) holder.never_ran.insert(place);
  if (gives.logs) holder.with_logs.insert(place);
  if (gives.outputs) holder.with_outputs.insert(place);
  return true;
}

bool EndedJobs::remove(const std::string& user, const Place& place) {
  if (all_.erase(place) == 0) return false;
  Holder& holder = holders_[user];
  for (std::set<Place>* places :
       {&holder.jobs, &holder.never_ran, &holder.with_logs, &holder.with_outputs})
    places->erase(place);
  drop_if_empty(user);
  return true;
}

void EndedJobs::drop_if_empty(const std::string& user) {
  const auto found = holders_.find(user);
  if (found != holders_.end() && found->second == Holder{}) holders_.erase(found);
}

std::optional<EndedJobs::Largest> EndedJobs::largest(What what, std::uint64_t most) const {
  std::uint64_t users = 0;
  for (const auto& [user, holder] : holders_) users += amount_of(holder, what) > 0 ? 1 : 0;
  std::optional<Largest> found;
  for (const auto& [user, holder] : holders_) {
    const Place* place = launcher::first_of(holder, what);
    const std::uint64_t has = amount_of(holder, what);
    if (place == nullptr || has <= most / users) continue;
    const bool is_more = !found || has > found->has || (has == found->has && *place < found->place);
    if (is_more) found = Largest{&user, has, *place};
  }
  return found;
}

const EndedJobs::Place* EndedJobs::first_of(const std::string& user) const {
  const auto found = holders_.find(user);
  return found == holders_.end() ? nullptr : launcher::first_of(found->second, What::jobs);
}

}  // namespace lockstep::launcher
