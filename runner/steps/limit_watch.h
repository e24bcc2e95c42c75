#pragma once
// The limits that ranks of this node have reached, as one line for each, in the order in which they
// were reached. A line changes only when its count has grown much, so that a rank which keeps
// hitting a limit does not flood the reports. Pure: the counts come from outside.

#include <map>
#include <string>
#include <vector>

#include "common/domain/limits.h"

namespace lockstep::runner {

struct LimitCounts {
  std::map<int, long long> refused_forks;  // rank -> how many processes and threads; none of 0
  long long refused_in_container = 0;      // of all its ranks together
  int container_pids = 0;                  // the container's limit
  int dropped_of = -1;                     // a rank whose output is not kept any more; -1 = none
  int dropping_ranks = 0;
  Bytes dropped;  // of all of them
};

class LimitWatch {
 public:
  explicit LimitWatch(Limits limits) : limits_(limits) {}

  // True when lines() has changed. `final`: every change counts.
  bool look(const LimitCounts& counts, bool final);
  // Its node ends the part for this reason.
  void ended(const std::string& why) { set(Kind::disk, why); }

  const std::vector<std::string>& lines() const { return lines_; }
  // Of one rank; "" = it was refused none.
  std::string refusal_of(int rank, const LimitCounts& counts) const;

 private:
  enum class Kind { pids, log, disk };
  bool is_news(Kind kind, unsigned long long count, bool final);
  void set(Kind kind, std::string line);
  std::string pids_line(const LimitCounts& counts) const;
  std::string log_line(const LimitCounts& counts) const;

  const Limits limits_;
  std::map<Kind, unsigned long long> told_;
  std::map<Kind, std::size_t> place_;  // in lines_
  std::vector<std::string> lines_;
};

}  // namespace lockstep::runner
