#pragma once
// The jobs in the order of their names, and found by name in constant time: a job is looked up two
// dozen times in its life, and names that begin alike are slow to compare.

#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/base/ids.h"

namespace lockstep::launcher {

template <typename Job>
class JobTable {
 public:
  JobTable() = default;
  JobTable(const JobTable& other) : jobs_(other.jobs_) {
    for (auto& [id, job] : jobs_) by_name_.emplace(id.value, &job);
  }
  JobTable(JobTable&&) = default;
  JobTable& operator=(JobTable other) {
    std::swap(jobs_, other.jobs_);
    std::swap(by_name_, other.by_name_);
    return *this;
  }

  friend bool operator==(const JobTable& a, const JobTable& b) { return a.jobs_ == b.jobs_; }

  const std::map<JobId, Job>& all() const { return jobs_; }
  // null: there is none.
  const Job* find(const JobId& id) const {
    const auto found = by_name_.find(id.value);
    return found == by_name_.end() ? nullptr : found->second;
  }
  Job* find(const JobId& id) {
    const auto found = by_name_.find(id.value);
    return found == by_name_.end() ? nullptr : found->second;
  }
  // There is no job with this name yet.
  void add(const JobId& id, Job job) {
    const auto added = jobs_.emplace(id, std::move(job)).first;
    by_name_.emplace(added->first.value, &added->second);
  }
  void remove(const JobId& id) {
    by_name_.erase(id.value);
    jobs_.erase(id);
  }

 private:
  std::map<JobId, Job> jobs_;
  std::unordered_map<std::string_view, Job*> by_name_;  // views of the keys of jobs_
};

}  // namespace lockstep::launcher
