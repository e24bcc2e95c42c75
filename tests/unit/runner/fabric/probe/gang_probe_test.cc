// Whole probes of gangs in one process, whose messages go from hand to hand.
#include "runner/fabric/probe/gang_probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner {
namespace {

// All nodes are in one network namespace, where each has the others' addresses: nothing is dialled,
// so that what passes here is the way of the messages. tests/e2e/test_probe.py has real networks.
class GangProbeTest : public ::testing::Test {
 protected:
  struct Node {
    std::unique_ptr<GangProbe> probe;
    std::vector<ProbeOutcome> outcomes;
  };

  void make(int count, bool is_off = false) {
    GangTable gang;
    for (int node = 0; node < count; ++node) {
      GangMember member;
      member.host_id = "host" + std::to_string(node);
      member.address = "127.0.0.1";
      gang.members.push_back(member);
    }
    const SharedGang shared(std::move(gang));
    for (int rank = 0; rank < count; ++rank) {
      nodes_.push_back(std::make_unique<Node>());
      Node* const node = nodes_.back().get();
      GangProbeFacts facts;
      facts.attempt = {JobId("job"), 1};
      facts.node_rank = rank;
      facts.gang = shared;
      facts.kind = Distribution::Kind::pytorch;
      facts.cache_folder = folder_.path() + "/probes";
      facts.is_off = is_off;
      node->probe = std::make_unique<GangProbe>(
          loop_, clock_, facts,
          GangProbe::Events{
              [this, rank](int to, GangMessage message) {
                sent_.push_back({rank, to, std::move(message)});
              },
              [this, rank, count](GangMessage message) {
                for (int to = 0; to < count; ++to)
                  if (to != rank) sent_.push_back({rank, to, message});
              },
              [node](ProbeOutcome outcome) { node->outcomes.push_back(std::move(outcome)); },
          });
    }
  }
  void deliver() {
    while (!sent_.empty()) {
      auto [from, to, message] = std::move(sent_.front());
      sent_.pop_front();
      ++delivered_[message.index()];
      nodes_[static_cast<std::size_t>(to)]->probe->receive(from, std::move(message));
    }
  }
  void run() {
    const Instant until = clock_.now() + seconds(30);
    while (!all_over() && clock_.now() < until) {
      deliver();
      loop_.turn(milliseconds(5));
      for (auto& node : nodes_) node->probe->expire(clock_.now());
    }
    ASSERT_TRUE(all_over());
  }
  bool all_over() const {
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [](const auto& node) { return !node->outcomes.empty(); });
  }
  void begin_all() {
    for (auto& node : nodes_) node->probe->begin();
  }
  template <typename Message>
  int delivered() {
    return delivered_[GangMessage(Message{}).index()];
  }
  struct Letter {
    int from, to;
    GangMessage message;
  };

  io::EventLoop loop_;
  io::SystemClock clock_;
  testing::TemporaryDirectory folder_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::deque<Letter> sent_;
  std::map<std::size_t, int> delivered_;
};

TEST_F(GangProbeTest, AllNodesHearTheSameOnce) {
  make(3);
  begin_all();
  run();
  for (const auto& node : nodes_) {
    ASSERT_EQ(node->outcomes.size(), 1U);
    EXPECT_TRUE(node->outcomes[0] == nodes_[0]->outcomes[0]);
    EXPECT_EQ(node->outcomes[0].failed_on, -1);
    EXPECT_EQ(node->outcomes[0].result.chosen.size(), 3U);
    EXPECT_EQ(node->probe->next_deadline(), Instant::never());
  }
  EXPECT_EQ(delivered<ProbeOffer>(), 3);
}

TEST_F(GangProbeTest, WhoHearsOfItBeforeItBeginsTakesPart) {
  make(3);
  nodes_[1]->probe->begin();
  nodes_[2]->probe->begin();
  deliver();
  nodes_[0]->probe->begin();
  run();
}

TEST_F(GangProbeTest, IsOffForAllWhereTheFirstSaysSo) {
  make(3, true);
  begin_all();
  run();
  for (const auto& node : nodes_) EXPECT_TRUE(node->outcomes[0] == ProbeOutcome{});
}

TEST_F(GangProbeTest, TheSecondGangOfTheSameNodesIsNotProbed) {
  make(2);
  begin_all();
  run();
  EXPECT_FALSE(nodes_[0]->outcomes[0].result.cached);
  const std::string entry = nodes_[0]->probe->cache_entry();
  EXPECT_FALSE(entry.empty());
  EXPECT_EQ(nodes_[1]->probe->cache_entry(), "");
  for (const bool is_cached : {true, false}) {
    if (!is_cached) forget_probe(entry);
    nodes_.clear();
    sent_.clear();
    delivered_.clear();
    make(2);
    begin_all();
    run();
    EXPECT_EQ(nodes_[1]->outcomes[0].result.cached, is_cached);
    EXPECT_EQ(nodes_[0]->probe->cache_entry(), entry);
    if (is_cached) {
      EXPECT_EQ(delivered<ProbePlan>(), 0);
    }
  }
}

TEST_F(GangProbeTest, MessagesOfTheWrongNodesAreIgnored) {
  make(2);
  begin_all();
  ProbeOutcome forged;
  forged.failed_on = 0;
  nodes_[0]->probe->receive(1, forged);
  nodes_[1]->probe->receive(1, forged);
  nodes_[1]->probe->receive(1, ProbePlan{std::string(kProbeKeyBytes, 'x'), {}});
  ProbeOffer offer;
  offer.node_rank = 0;
  nodes_[0]->probe->receive(1, offer);
  nodes_[0]->probe->receive(1, ProbeFindings{0, {}});
  nodes_[0]->probe->receive(1, GangNodeDone{1});
  run();
  for (const auto& node : nodes_) EXPECT_EQ(node->outcomes[0].failed_on, -1);
}

}  // namespace
}  // namespace lockstep::runner
