#pragma once
// A gang in simulated time: ranks that a test moves by hand or by a program, a sampler for each
// node with a clock of its own, the tree of runners with its messages, and the comparison at node
// rank 0. One step is a second.

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/watch/compare/comparison.h"
#include "runner/watch/compare/telling.h"

namespace lockstep::runner {

// What a rank does at this moment, as a sampler would see it.
struct SimRank {
  RankStanding now;    // without its times and numbers
  bool moved = true;   // since the last sample
  bool flows = false;  // it moves all the time
  // That it waits is seen by its stack alone, once somebody has asked for that.
  bool needs_stack = false;

  void computes(const std::string& at = "");
  void reads(const std::string& path);
  void sleeps();
  void waits(const std::string& within, const std::string& at = "");  // in a library
  // In a system call on a socket whose ends are these.
  void waits_on(const std::string& far, const std::string& near);
  void locks();
  void stops() { now.doing = Doing::stopped; }
  void exits(int code = 0);
};

class GangWorld {
 public:
  static constexpr std::uint16_t kStorePort = 6105;

  explicit GangWorld(int nodes, int ranks_per_node = 1, HangPolicy policy = {},
                     int radix = kGangTreeRadix);

  int ranks() const { return static_cast<int>(ranks_.size()); }
  SimRank& rank(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  template <typename F>
  void each(F f) {
    for (SimRank& one : ranks_) f(one);
  }
  std::string address_of(int node) const { return "10.0.0." + std::to_string(node + 1); }

  // Called at each second, before anything else.
  std::function<void(Instant)> script;

  void run(Duration time);
  // All machines stand still, and their clocks jump.
  void pause_all(Duration time) { now_ = now_ + time; }
  // This one stands still from now on for so long.
  void pause_node(int node, Duration time);
  // Nobody hears this node any more, and its neighbours say so.
  void lose_node(int node);
  // It says nothing before that.
  void join_at(int node, Instant at) { nodes_[static_cast<std::size_t>(node)].silent_until = at; }

  Instant now() const { return now_; }
  const FoundList& found() const { return found_; }
  const Found* find(FoundKind kind) const;
  // The ones that were said at any time, with the moment.
  bool was_alarm() const { return alarm_.has_value(); }
  std::optional<Instant> alarm_at() const { return alarm_; }
  const Found& alarm() const { return alarm_found_; }
  int messages_to_root() const { return messages_to_root_; }
  int looks() const { return looks_; }

 private:
  struct Node {
    Duration clock{0};  // ahead of the world's
    int phase = 0;      // of its samples, in seconds
    Instant silent_until, paused_until;
    bool lost = false;
    Telling telling;
    std::map<int, RankStanding> before;  // of its ranks
    Instant sampled;
  };
  struct Letter {
    int from = 0, to = 0;
    GangMessage message;
  };

  int parent_of(int node) const { return node == 0 ? -1 : (node - 1) / radix_; }
  Instant clock_of(const Node& node) const { return now_ + node.clock; }
  bool runs(const Node& node) const;
  void second();
  void sample(int number);
  RankStanding standing_of(SimRank& rank, Node& node) const;
  void send(int number);
  void deliver();
  void compare();

  const int ranks_per_node_, radix_;
  std::vector<SimRank> ranks_;
  std::vector<Node> nodes_;
  Comparison comparison_;
  std::deque<Letter> letters_;
  Instant now_{1'800'000'000'000'000'000};
  Instant compare_at_;
  FoundList found_;
  std::optional<Instant> alarm_;
  Found alarm_found_;
  int messages_to_root_ = 0, looks_ = 0;
};

// "hangs stopped 3", for messages of tests.
std::string shown(const Found& found);

}  // namespace lockstep::runner
