#pragma once
// The work in progress at the end of jobs beside their state: cancels that came too late, and
// requests to the shell to merge and write outputs. Starts empty in each launcher process, which
// then asks the shell again.

#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/base/ids.h"

namespace lockstep::launcher {

// One record for each job with something in progress.
class Endings {
 public:
  // The job was canceled when only its logs were outstanding, so the cancel does not change how it
  // ends.
  void cancel(const JobId& job) { jobs_[job].is_canceled = true; }
  bool is_canceled(const JobId& job) const {
    const auto known = jobs_.find(job);
    return known != jobs_.end() && known->second.is_canceled;
  }

  // Begins a merge. False: the shell was asked already.
  bool begin_merge(const JobId& job) { return !std::exchange(jobs_[job].is_merging, true); }
  void end_merge(const JobId& job) {
    change(job, [](Ending& one) { one.is_merging = false; });
  }

  // Begins a write. False: the shell was asked already.
  bool begin_write(const JobId& job, const std::string& output) {
    return jobs_[job].writing.insert(output).second;
  }
  void end_write(const JobId& job, const std::string& output) {
    change(job, [&](Ending& one) { one.writing.erase(output); });
  }

  // Marks a job as final; its outputs may still be being written.
  void finish(const JobId& job) {
    change(job, [](Ending& one) { one.is_canceled = one.is_merging = false; });
  }
  void forget(const JobId& job) { jobs_.erase(job); }

 private:
  struct Ending {
    bool is_canceled = false;
    bool is_merging = false;
    std::set<std::string> writing;  // outputs that the shell writes to remotes
  };
  template <typename Change>
  void change(const JobId& job, const Change& change) {
    const auto known = jobs_.find(job);
    if (known == jobs_.end()) return;
    Ending& one = known->second;
    change(one);
    if (!one.is_canceled && !one.is_merging && one.writing.empty()) jobs_.erase(known);
  }

  std::map<JobId, Ending> jobs_;
};

}  // namespace lockstep::launcher
