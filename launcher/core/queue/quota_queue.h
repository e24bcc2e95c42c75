#pragma once
// The jobs that wait because their user or project is at a quota. They block no other job. Jobs of
// one user and project with equal requests form one line, and only the first job of a line is
// checked. So when resources become free, the cost depends on the number of lines, not of jobs.
// Part of the scheduler; all its data can be rebuilt.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "launcher/core/queue/quotas.h"

namespace lockstep::launcher {

class QuotaQueue {
 public:
  // Holds a job back. `measured` is the demand of the job on the nodes chosen for it, if that is
  // more than its least demand.
  void hold(const Job& job, std::optional<Demand> measured);
  void remove(const Job& job);
  bool empty() const { return lines_.empty(); }
  bool holds(const Job& job) const { return keys_.count(job.order) != 0; }
  // Why the job waits; none: it would fit its quotas, but has not been checked again yet.
  Why reason(const State& state, const Job& job) const;

  // Removes the first job of each line if it fits its quotas now, and returns the orders of these
  // jobs.
  std::set<std::uint64_t> take_fitting(const State& state);
  // Removes the first job of one line alone, the line for jobs with this spec.
  std::optional<std::uint64_t> take_next(const State& state, const JobSpec& spec);
  // Forgets the measured demands, because other nodes may give less.
  void nodes_changed();

 private:
  struct Key {
    std::string user, project;
    Priority priority = Priority::medium;
    int nodes = 1;
    std::optional<int> cpus, gpus;
    int gpus_at_least = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Line {
    std::set<std::uint64_t> orders;
    std::optional<Demand> measured;
  };
  using Lines = std::map<Key, Line>;
  static Key key_of(const JobSpec& spec);
  std::optional<std::uint64_t> take_first(const State& state, Lines::iterator& line);

  Lines lines_;
  std::map<std::uint64_t, Key> keys_;  // the line of each job, by order
};

}  // namespace lockstep::launcher
