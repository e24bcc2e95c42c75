#include "launcher/state/jobs/deleted.h"

#include <algorithm>
#include <utility>

namespace lockstep::launcher {

// Removes an older deletion of the name if it had no submission key: only its newest deletion is
// needed then.
void DeletedJobs::drop_nameless(const JobId& job) {
  const auto last = last_.find(job);
  if (last == last_.end() || !last->second.submission.empty()) return;
  entries_.erase(std::find(entries_.begin(), entries_.end(), Entry{job, last->second}));
}

std::uint64_t DeletedJobs::add(const JobId& job, DeletedJob deleted) {
  drop_nameless(job);
  if (!deleted.submission.empty()) submissions_[deleted.submission] = job;
  last_[job] = deleted;
  entries_.push_back({job, std::move(deleted)});
  if (entries_.size() <= kMaxDeletedJobs) return 0;

  const Entry oldest = std::move(entries_.front());
  entries_.pop_front();
  submissions_.erase(oldest.deleted.submission);
  const auto last = last_.find(oldest.job);
  if (last->second != oldest.deleted) return 0;
  last_.erase(last);
  return oldest.deleted.incarnation;
}

const JobId* DeletedJobs::with_submission(const std::string& submission) const {
  const auto it = submissions_.find(submission);
  return it == submissions_.end() ? nullptr : &it->second;
}

}  // namespace lockstep::launcher
