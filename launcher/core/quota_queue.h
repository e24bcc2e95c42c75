#pragma once
// Jobs that wait because their user or project has reached a quota. They block nobody. Equal
// requests of one user and project form one line, of which only the first is examined, so that
// freed resources cost one check per line, however long it is. Part of the scheduler; holds only
// what can be rebuilt.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "launcher/core/quotas.h"

namespace lockstep::launcher {

class QuotaQueue {
 public:
  // `measured`: what it would hold on the nodes that it was to get, where these give more than the
  // least.
  void hold(const Job& job, std::optional<Demand> measured);
  void remove(const Job& job);
  bool empty() const { return lines_.empty(); }
  bool holds(const Job& job) const;
  // Why it waits; nullopt: it would fit, but was not looked at yet.
  std::optional<std::string> reason(const State& state, const Job& job) const;

  // Takes the first of each line that fits its quotas now: their orders.
  std::set<std::uint64_t> take_fitting(const State& state);
  // The same of the line in which this job was or would be.
  std::optional<std::uint64_t> take_next(const State& state, const JobSpec& spec);
  // Other nodes may give less.
  void nodes_changed();

 private:
  struct Key {
    std::string user, project;
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
};

}  // namespace lockstep::launcher
