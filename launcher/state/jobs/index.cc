#include "launcher/state/jobs/index.h"

namespace lockstep::launcher {

void JobIndex::submitted(std::uint64_t order, const std::string& user) {
  of_user_[user].insert(order);
  unfinished_.insert(order);
  begun_.insert(order);
}

void JobIndex::finished(std::uint64_t order, JobStatus status) {
  unfinished_.erase(order);
  begun_.erase(order);
  ++finished_[status];
}

void JobIndex::deleted(std::uint64_t order, const std::string& user, JobStatus status) {
  const auto mine = of_user_.find(user);
  mine->second.erase(order);
  if (mine->second.empty()) of_user_.erase(mine);
  const auto count = finished_.find(status);
  if (--count->second == 0) finished_.erase(count);
}

const std::set<std::uint64_t>& JobIndex::of_user(const std::string& user) const {
  static const std::set<std::uint64_t> kNone;
  const auto found = of_user_.find(user);
  return found == of_user_.end() ? kNone : found->second;
}

}  // namespace lockstep::launcher
