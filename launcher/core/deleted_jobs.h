// Remembers deleted jobs: the incarnations of their names, and their submissions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "common/base/ids.h"

namespace lockstep::launcher {

struct DeletedJob {
  std::string submission;
  std::uint64_t incarnation = 0;  // of the next job with its name, at least
  friend bool operator==(const DeletedJob&, const DeletedJob&) = default;
};
inline constexpr std::size_t kMaxDeletedJobs = 10'000;

// The last kMaxDeletedJobs deletions. One name may have been deleted several times: each of its
// submissions is known, and the last incarnation.
class DeletedJobs {
 public:
  // Returns the incarnation of the name that is forgotten to make room; 0: none. A forgotten name
  // cannot be told from a new one, so all later attempts need an incarnation above it.
  std::uint64_t add(const JobId& job, DeletedJob deleted);

  const std::map<JobId, DeletedJob>& last() const { return last_; }  // deletion of each name
  // The next one costs the oldest: a name that is not here may have been deleted.
  bool is_full() const { return entries_.size() >= kMaxDeletedJobs; }
  // Null: of none that is remembered.
  const JobId* with_submission(const std::string& submission) const;

  friend bool operator==(const DeletedJobs&, const DeletedJobs&) = default;

 private:
  struct Entry {
    JobId job;
    DeletedJob deleted;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  void drop_nameless(const JobId& job);

  std::map<JobId, DeletedJob> last_;
  std::deque<Entry> entries_;  // the newest last
  std::map<std::string, JobId> submissions_;
};

}  // namespace lockstep::launcher
