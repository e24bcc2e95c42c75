#pragma once
// The limits that the ranks of this node have reached: one reason per limit, in the order in which
// they were reached. A reason changes only when its count has grown by much, so that a rank that
// hits a limit all the time does not cause many reports. Pure: the caller counts.

#include <map>
#include <vector>

#include "common/domain/ranks/limits.h"
#include "common/domain/why/why.h"

namespace lockstep::runner {

struct LimitCounts {
  std::map<int, long long> refused_forks;  // rank -> refused processes and threads; without zeros
  long long refused_of_all = 0;  // forks that the limit of all jobs of the node together refused
  long long pids_of_all = 0;     // the node's limit, if it is used up now; 0: it is not
  long long refused_in_container = 0;  // forks refused for all ranks of the container together
  int container_pids = 0;              // the container's limit
  int dropped_of = -1;                 // a rank whose output is no longer kept; -1 = none
  int dropping_ranks = 0;
  Bytes dropped;  // the sum for all ranks
};

class LimitWatch {
 public:
  explicit LimitWatch(Limits limits) : limits_(limits) {}

  // Updates reached(); true if it changed. `final`: also for a small change of a count.
  bool look(const LimitCounts& counts, bool final);
  // Records why the node's agent ends the part, for example at its disk limit.
  void ended(const Why& why) { set(Kind::disk, why); }

  const std::vector<Why>& reached() const { return reached_; }
  // Whether one rank was refused processes and threads.
  Why refusal_of(int rank, const LimitCounts& counts) const;

 private:
  enum class Kind { pids, log, disk };
  bool is_news(Kind kind, unsigned long long count, bool final);
  void set(Kind kind, Why why);
  Why of_pids(const LimitCounts& counts) const;
  Why of_logs(const LimitCounts& counts) const;

  const Limits limits_;
  long long pids_of_all_ = 0;  // the limit of all jobs of the node, once it was used up
  std::map<Kind, unsigned long long> told_;
  std::map<Kind, std::size_t> place_;  // index in reached_
  std::vector<Why> reached_;
};

}  // namespace lockstep::runner
