#pragma once
// Which jobs a question is about, without a look at all jobs: a user's, those that are not final,
// and how many have each state. Part of State: its transitions keep it, and check_invariants counts
// it anew. Orders are of submission.

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
  const std::set<std::uint64_t>& unfinished() const { return unfinished_; }  // not final
  const std::set<std::uint64_t>& begun() const { return begun_; }  // of these, not in the queue
  // Of the final ones; a state that none has is left out.
  const std::map<JobStatus, std::int64_t>& finished() const { return finished_; }
  friend bool operator==(const JobIndex&, const JobIndex&) = default;

 private:
  std::map<std::string, std::set<std::uint64_t>> of_user_;  // no set is empty
  std::set<std::uint64_t> unfinished_, begun_;
  std::map<JobStatus, std::int64_t> finished_;
};

}  // namespace lockstep::launcher
