#pragma once
// The ended jobs that retention may delete, by the time of their end; the space that they take, in
// all and for each user; and which of them is deleted first for each limit. Part of State:
// applier.h changes it, and check_invariants counts it again. retention.h decides when a job
// is deleted.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/time.h"

namespace lockstep::launcher {

// The space that a job takes in the launcher's stores, as its nodes reported it.
struct JobSize {
  Bytes logs, outputs;
  friend bool operator==(const JobSize&, const JobSize&) = default;
};

class EndedJobs {
 public:
  using Place = std::pair<Instant, std::uint64_t>;  // the end of the job, and its order
  // The amounts that deleting the job frees; for a pipeline, including its steps.
  struct Gives {
    bool ran = false;  // an attempt was placed, or a step reuses outputs
    bool logs = false, outputs = false;
    friend bool operator==(const Gives&, const Gives&) = default;
  };
  enum class What { jobs, logs, outputs };
  struct Holder {
    JobSize size;
    std::set<Place> jobs, never_ran, with_logs, with_outputs;
    friend bool operator==(const Holder&, const Holder&) = default;
  };
  // The user who has most of something, how much, and which of their jobs is deleted first.
  struct Largest {
    const std::string* user = nullptr;
    std::uint64_t has = 0;
    Place place;
  };

  // Sizes are counted from the end of each job. This includes jobs that cannot be deleted yet:
  // steps, and jobs with outputs that wait to be written to a remote.
  void count(const std::string& user, const JobSize& size);
  void discount(const std::string& user, const JobSize& size);
  // Adds a job. False: it was added before.
  bool add(const std::string& user, const Place& place, const JobId& job, const Gives& gives);
  bool remove(const std::string& user, const Place& place);  // false: the job was not in the list

  const std::map<Place, JobId>& all() const { return all_; }
  const JobSize& size() const { return size_; }
  const std::map<std::string, Holder>& holders() const { return holders_; }
  // The job that is deleted first for the limit `most` on all users together. A user with at most
  // an equal share (`most` divided by the number of users who have any) loses no job; nullopt: this
  // holds for all users, or the others have only jobs that cannot be deleted yet. Among users with
  // the same amount, it is the one whose job ended first. If only the number of jobs counts, jobs
  // that never ran come before those that did; otherwise the job that ended first among the jobs
  // that have some of the limited amount.
  std::optional<Largest> largest(What what, std::uint64_t most) const;
  // The user's job to delete first when they have too many; null: they have none.
  const Place* first_of(const std::string& user) const;

  friend bool operator==(const EndedJobs&, const EndedJobs&) = default;

 private:
  void drop_if_empty(const std::string& user);

  std::map<Place, JobId> all_;
  JobSize size_;
  std::map<std::string, Holder> holders_;  // only users with jobs
};

}  // namespace lockstep::launcher
