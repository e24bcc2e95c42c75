#pragma once
// The jobs of one pool that wait for nodes, in the order of the queue:
//   1. priority;
//   2. within a priority, jobs whose turn has come (Job::at_head), in the order in which it came,
//      each behind the older jobs of its own user;
//   3. then the jobs of the user whose share of the pool is least (fair_share.h);
//   4. within a user, order of submission.
// Jobs of one user with equal requests form a class, so that a pass of the scheduler can skip all
// of them at once. Part of the scheduler; all its data can be rebuilt.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

// The properties that decide whether a job could start now, equal for all jobs of a class.
struct JobClass {
  Shape shape;
  std::optional<Duration> longest;  // the longest time that it holds its nodes; absent: no limit
  friend auto operator<=>(const JobClass&, const JobClass&) = default;
};
JobClass class_of(const CoreConfig& config, const Job& job);

class WaitingJobs {
 public:
  using Orders = std::set<std::uint64_t>;
  using ShareOf = std::function<double(const std::string& user)>;
  struct Line {  // the jobs of one user; no class is empty
    std::map<JobClass, Orders> classes;
    std::map<std::uint64_t, const JobClass*> firsts;  // the first job of each class
  };
  struct Level {
    // (head_since, order) -> user
    std::map<std::pair<Instant, std::uint64_t>, std::string> at_head;
    std::map<std::string, Line> users;
    // The user's jobs at the head up to this one, in order of submission.
    Orders heads_until(const std::string& user, std::uint64_t order) const;
  };
  using Levels = std::map<Priority, Level, std::greater<>>;

  void add(const Job& job, JobClass kind);
  void remove(std::uint64_t order);
  bool has(std::uint64_t order) const { return places_.count(order) != 0; }
  bool empty() const { return places_.empty(); }
  const Levels& levels() const { return levels_; }
  const JobClass& class_of(std::uint64_t order) const { return places_.at(order).kind; }

  // Visits all jobs in order until `take` returns false. Users take turns, the one with the least
  // share first: how much their shares will grow is not known before jobs are placed.
  void visit(const ShareOf& share_of, const std::function<bool(std::uint64_t)>& take) const;
  // All jobs with this shape.
  Orders with_shape(const Shape& shape) const;

 private:
  struct Place {
    Priority priority = Priority::medium;
    std::string user;
    std::optional<Instant> head_since;  // set if the job is at the head
    JobClass kind;
  };
  Levels levels_;
  std::map<std::uint64_t, Place> places_;
};

}  // namespace lockstep::launcher
