#pragma once
// Tracks the machines of one target through successive answers of the launcher, until each has
// joined, is gone, or has failed once. Makes the progress lines for the user. Does no I/O.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/targets/compute.h"

namespace lockstep::cli {

class MachineProgress {
 public:
  enum class Goal { joined, gone };
  using Goals = std::map<std::string, Goal>;  // by machine
  struct Options {
    bool is_forced = false;      // a machine whose removal failed is forgotten soon
    bool until_deleted = false;  // the target must go too
  };

  // `begun`: the answer to the request that began it. A failure in it is an old one.
  MachineProgress(const ComputeView& begun, Goals goals) : MachineProgress(begun, goals, {}) {}
  MachineProgress(const ComputeView& begun, Goals goals, Options options);

  const std::string& target() const { return spec_.name; }
  // The changes since the last call. nullopt: the target does not exist any more.
  std::vector<std::string> update(const std::optional<ComputeView>& now);
  // Whether every machine is where it should be, or has failed.
  bool is_done() const;
  // Machines that are not where they should be.
  std::vector<std::string> missing() const;
  // A line for each machine that neither has arrived nor failed.
  std::vector<std::string> open_lines() const;
  // "2 of 3 machines joined".
  std::string summary() const;
  // Nodes whose machines leave when they hold no job: machine and node. Each is returned once.
  std::map<std::string, std::string> take_waiting();

 private:
  struct Followed {
    Goal goal = Goal::joined;
    MachineView first, last;
    bool is_there = false;    // whether the machine should exist
    bool has_failed = false;  // true if it failed once since we look
    bool is_told_to_wait = false;
    std::string said;  // the last line
  };

  // The line of a machine. `now` null: the target does not have the machine. `is_wanted`: it is a
  // host of the target.
  std::string line_of(const std::string& name, Followed& followed, const MachineView* now,
                      bool is_wanted) const;
  std::string line_of_joining(const std::string& name, Followed& followed, const MachineView* now,
                              bool is_wanted) const;
  std::string line_of_leaving(const std::string& name, Followed& followed,
                              const MachineView* now) const;

  ComputeSpec spec_;          // the spec as it was at first
  std::string last_failure_;  // for an elastic target
  bool is_elastic_ = false;   // its failed machines are replaced by others
  Options options_;
  std::map<std::string, Followed> machines_;
  bool is_deleted_ = false;
};

}  // namespace lockstep::cli
