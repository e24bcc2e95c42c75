#pragma once
// Finds jobs without looking at all of them: the jobs of a user, those that are not final, and the
// number of jobs in each state. Part of State: its transitions update it, and check_invariants
// counts again. Jobs are named by their order of submission.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "common/domain/messages/views.h"

namespace lockstep::launcher {

class JobIndex {
 public:
  void submitted(std::uint64_t order, const std::string& user);
  void queued(std::uint64_t order) { begun_.erase(order); }
  void left_queue(std::uint64_t order) { begun_.insert(order); }
  void finished(std::uint64_t order, JobStatus status);
  void deleted(std::uint64_t order, const std::string& user, JobStatus status);

  const std::set<std::uint64_t>& of_user(const std::string& user) const;
  // the jobs that are not final
  const std::set<std::uint64_t>& unfinished() const { return unfinished_; }
  // The unfinished jobs that are not queued.
  const std::set<std::uint64_t>& begun() const { return begun_; }
  // The number of final jobs by state; a state without jobs is left out.
  const std::map<JobStatus, std::int64_t>& finished() const { return finished_; }
  friend bool operator==(const JobIndex&, const JobIndex&) = default;

 private:
  std::map<std::string, std::set<std::uint64_t>> of_user_;  // no set is empty
  std::set<std::uint64_t> unfinished_, begun_;
  std::map<JobStatus, std::int64_t> finished_;
};

}  // namespace lockstep::launcher
