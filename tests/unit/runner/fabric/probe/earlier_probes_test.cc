// What a probe found holds for the same nodes alone, and not for ever.
#include "runner/fabric/probe/earlier_probes.h"

#include <gtest/gtest.h>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner {
namespace {

std::vector<ProbedNode> nodes(const std::vector<std::string>& prints) {
  std::vector<ProbedNode> made;
  for (const std::string& print : prints) {
    ProbedNode& node = made.emplace_back();
    node.host = node.address = print;
    node.offer.emplace().fingerprint = print;
    node.offer->candidates = {{"eth0", print + ".0", 1500}, {"eth1", print + ".1", 1500}};
  }
  return made;
}

ProbeOutcome outcome_for(const std::vector<ProbedNode>& of) {
  ProbeOutcome outcome;
  for (std::size_t rank = 0; rank < of.size(); ++rank) {
    ChosenPath path;
    path.node_rank = static_cast<int>(rank);
    path.interface = "eth1";
    path.address = of[rank].offer->candidates[1].address;
    path.speed_mbps = 1'000 + static_cast<int>(rank);
    outcome.result.chosen.push_back(path);
  }
  outcome.result.failures.push_back({0, 1, "a", "eth0", "b", 1, PathTrouble::no_route, 0});
  return outcome;
}

class ProbeCacheTest : public ::testing::Test {
 protected:
  std::optional<ProbeOutcome> find(const std::vector<ProbedNode>& of,
                                   std::string_view kind = "mpi") {
    return cache.find(probe_cache_key(kind, of), of);
  }
  void keep(const std::vector<ProbedNode>& of) {
    cache.keep(probe_cache_key("mpi", of), outcome_for(of));
  }
  testing::TemporaryDirectory folder;
  ProbeCache cache{folder.path() + "/probes"};
};

TEST_F(ProbeCacheTest, TheSameNodesFindIt) {
  const auto gang = nodes({"a", "b", "c"});
  EXPECT_FALSE(find(gang));
  keep(gang);
  const auto found = find(gang);
  ASSERT_TRUE(found);
  ProbeOutcome expected = outcome_for(gang);
  expected.result.cached = true;
  EXPECT_TRUE(*found == expected);
}

TEST_F(ProbeCacheTest, InAnotherOrderToo) {
  keep(nodes({"a", "c", "b"}));
  const auto found = find(nodes({"a", "b", "c"}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->result.chosen[1].address, "b.1");
  EXPECT_EQ(found->result.chosen[1].speed_mbps, 1'002);
  EXPECT_EQ(found->result.failures[0].to, 2) << "the node that was 1 then";
  EXPECT_FALSE(find(nodes({"b", "a", "c"}))) << "another first node: another port was dialled";
}

TEST_F(ProbeCacheTest, OtherNodesAddressesOrKindsDoNot) {
  const auto gang = nodes({"a", "b"});
  keep(gang);
  EXPECT_FALSE(find(nodes({"a", "b", "c"})));
  EXPECT_FALSE(find(nodes({"a", "x"})));
  EXPECT_FALSE(find(gang, "pytorch"));
  auto moved = gang;
  moved[1].offer->candidates[1].address = "elsewhere";
  EXPECT_FALSE(find(moved));
}

TEST_F(ProbeCacheTest, IsForgottenAfterAFailure) {
  const auto gang = nodes({"a", "b"});
  keep(gang);
  forget_probe(cache.path(probe_cache_key("mpi", gang)));
  EXPECT_FALSE(find(gang));
  forget_probe("");
  forget_probe(folder.path() + "/nothing");
}

TEST_F(ProbeCacheTest, IsForgottenAfterItsTime) {
  const auto gang = nodes({"a", "b"});
  keep(gang);
  const std::string path = cache.path(probe_cache_key("mpi", gang));
  const std::string entry = *io::read_file(path);
  const std::string message = entry.substr(entry.find('\n'));
  const Duration now = io::since_boot();
  const auto made = [&](Duration at) {
    ASSERT_TRUE(io::write_file_atomically(path, std::to_string(at.count()) + message));
  };
  made(now - kProbeCachedFor + minutes(1));
  EXPECT_EQ(find(gang).has_value(), now > kProbeCachedFor - minutes(1));
  made(now - kProbeCachedFor - seconds(1));
  EXPECT_FALSE(find(gang));
  made(now + minutes(5));  // of another boot
  EXPECT_FALSE(find(gang));
}

TEST_F(ProbeCacheTest, WhateverIsWrongWithItCountsAsNothing) {
  const auto gang = nodes({"a", "b"});
  keep(gang);
  const std::string path = cache.path(probe_cache_key("mpi", gang));
  const std::string entry = *io::read_file(path);
  for (const std::string& bad :
       {std::string(), std::string("\n"), std::string("x\ny"), entry.substr(0, entry.size() / 2),
        entry.substr(entry.find('\n')), std::string("5 \n") + entry}) {
    ASSERT_TRUE(io::write_file_atomically(path, bad));
    EXPECT_FALSE(find(gang)) << bad;
  }
  EXPECT_FALSE(ProbeCache("").find(probe_cache_key("mpi", gang), gang));
  ProbeCache("").keep(probe_cache_key("mpi", gang), outcome_for(gang));
}

TEST_F(ProbeCacheTest, AnEntryOfWrongNodesIsNone) {
  const auto gang = nodes({"a", "b"});
  const ProbeCacheKey key = probe_cache_key("mpi", gang);
  ProbeOutcome entry = in_cache_order(key, outcome_for(gang));
  EXPECT_TRUE(from_cache_order(key, entry, gang));
  for (auto change : {+[](ProbeOutcome& e) { e.result.chosen.pop_back(); },
                      +[](ProbeOutcome& e) { e.result.chosen[1].node_rank = 0; },
                      +[](ProbeOutcome& e) { e.result.chosen[1].node_rank = 9; },
                      +[](ProbeOutcome& e) { e.result.chosen[1].address = "10.66.6.6"; },
                      +[](ProbeOutcome& e) { e.result.chosen[1].interface = "eth9"; },
                      +[](ProbeOutcome& e) { e.failed_on = 0; },
                      +[](ProbeOutcome& e) { e.result.failures[0].to = -4; }}) {
    ProbeOutcome wrong = entry;
    change(wrong);
    EXPECT_FALSE(from_cache_order(key, wrong, gang));
  }
}

TEST_F(ProbeCacheTest, IsBounded) {
  for (std::size_t i = 0; i < kMostCachedProbes + 5; ++i) keep(nodes({"a", std::to_string(i)}));
  EXPECT_LE(io::list_directory(folder.path() + "/probes")->size(), kMostCachedProbes);
  EXPECT_TRUE(find(nodes({"a", std::to_string(kMostCachedProbes + 4)})));
}

}  // namespace
}  // namespace lockstep::runner
