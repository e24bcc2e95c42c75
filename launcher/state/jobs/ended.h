#pragma once
// The jobs that have ended and that retention may delete, by the time of their end; what they take,
// in all and of each user; and which of them make way for which limit. Part of State:
// transitions.cc changes it, and check_invariants recounts it. retention.h decides when one is
// deleted.

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
  // What deleting the job gives back; of a pipeline, with its steps.
  struct Gives {
    bool ran = false;  // an attempt was placed, or a step's outputs are reused
    bool logs = false, outputs = false;
    friend bool operator==(const Gives&, const Gives&) = default;
  };
  enum class What { jobs, logs, outputs };
  struct Holder {
    JobSize size;
    std::set<Place> jobs, never_ran, with_logs, with_outputs;
    friend bool operator==(const Holder&, const Holder&) = default;
  };
  // The user who has most of something, how much that is, and the job of theirs that makes way.
  struct Largest {
    const std::string* user = nullptr;
    std::uint64_t has = 0;
    Place place;
  };

  // Sizes are counted from the end of each job, also of steps and of jobs with outputs that wait to
  // be written to a remote, which cannot be deleted yet.
  void count(const std::string& user, const JobSize& size);
  void discount(const std::string& user, const JobSize& size);
  // False: it is there already.
  bool add(const std::string& user, const Place& place, const JobId& job, const Gives& gives);
  bool remove(const std::string& user, const Place& place);  // false: it was not there

  const std::map<Place, JobId>& all() const { return all_; }
  const JobSize& size() const { return size_; }
  const std::map<std::string, Holder>& holders() const { return holders_; }
  // Who makes way for the limit `most` of all users together. Nobody does who has no more than an
  // equal share of it (`most` divided by the number of users who have any); nullopt: so do all, or
  // what the others have belongs to jobs that cannot be deleted yet. Of users who have equally
  // much, the one whose job ended first. Jobs that never ran make way before those that did, when
  // only their number counts; else the job that ended first of those that have what is too much.
  std::optional<Largest> largest(What what, std::uint64_t most) const;
  // The user's job that makes way when there are too many of theirs; null: they have none.
  const Place* first_of(const std::string& user) const;

  friend bool operator==(const EndedJobs&, const EndedJobs&) = default;

 private:
  void drop_if_empty(const std::string& user);

  std::map<Place, JobId> all_;
  JobSize size_;
  std::map<std::string, Holder> holders_;  // none is empty
};

}  // namespace lockstep::launcher
