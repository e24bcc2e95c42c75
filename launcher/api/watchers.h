#pragma once
// The connections to notify when a job changes, with limits per job, per user and in total. It also
// spreads the watches over kRounds groups, so that the periodic StillWatching messages go to one
// group at a time. It sends nothing and reads no clock.

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "launcher/api/asker.h"

namespace lockstep::launcher {

class Watchers {
 public:
  struct Limits {
    std::size_t of_job = 1'000, of_user = 1'000, all = 10'000;
  };
  static constexpr std::size_t kRounds = 20;
  explicit Watchers(Limits limits) : limits_(limits) {}

  // Adds a watch. A second watch of the job by the same connection replaces the first. Returns
  // resource_exhausted with the limit and what to do.
  Status add(const JobId& job, const Asker& asker);
  // The watchers by connection; null if nobody watches the job.
  const std::map<std::string, Asker>* of(const JobId& job) const;
  void remove_if(const JobId& job, const std::function<bool(const Asker&)>& is_over);
  void job_is_over(const JobId& job);
  void remove_key(const PublicKey& key);
  void gone(const std::string& connection);
  void drop_gone(const std::function<bool(const std::string& connection)>& is_gone);
  // The watches of the next group. Each watch is in one group and the groups are about equally
  // large, so kRounds calls in a row return each watch once.
  std::vector<std::pair<JobId, Asker>> next_round();
  std::size_t count() const { return count_; }

 private:
  void forget(const JobId& job, const Asker& asker);

  const Limits limits_;
  std::map<JobId, std::map<std::string, Asker>> by_job_;
  // by connection and job; the number is the group
  std::map<std::string, std::map<JobId, std::size_t>> by_connection_;
  std::array<std::set<std::pair<JobId, std::string>>, kRounds> rounds_;
  std::size_t filled_last_ = 0, named_last_ = 0;
  std::map<std::string, std::size_t> of_user_;
  std::size_t count_ = 0;
};

}  // namespace lockstep::launcher
