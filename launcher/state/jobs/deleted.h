// The remembered data of deleted jobs: the incarnations of their names, and their submission keys.
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
  std::uint64_t incarnation = 0;  // the least incarnation of the next job with this name
  friend bool operator==(const DeletedJob&, const DeletedJob&) = default;
};
inline constexpr std::size_t kMaxDeletedJobs = 10'000;

// The last kMaxDeletedJobs deletions. If a name was deleted several times, all its submission keys
// are known, and its last incarnation.
class DeletedJobs {
 public:
  // Returns the incarnation of the oldest name if it was forgotten to make room; 0: no name was. A
  // forgotten name looks like a new one, so all later attempts need at least this incarnation.
  std::uint64_t add(const JobId& job, DeletedJob deleted);

  // The last deletion of each name.
  const std::map<JobId, DeletedJob>& last() const { return last_; }
  // True if the next add() forgets the oldest deletion. Then a name that is not in last() may still
  // have been deleted.
  bool is_full() const { return entries_.size() >= kMaxDeletedJobs; }
  // null: no remembered job has this submission key
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
  std::deque<Entry> entries_;  // the entries, the newest last
  std::map<std::string, JobId> submissions_;
};

}  // namespace lockstep::launcher
