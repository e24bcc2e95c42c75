// What `job show` says of the network of an attempt.
#include "launcher/cli/text/network_view.h"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

AttemptView attempt_on(int nodes) {
  AttemptView attempt;
  ProbeResult& probe = attempt.probe.emplace();
  for (int node = 0; node < nodes; ++node) {
    PartView& part = attempt.parts.emplace_back();
    part.node_rank = node;
    part.node_name = "n" + std::to_string(node + 1);
    ChosenPath& path = probe.chosen.emplace_back();
    path.node_rank = node;
    path.interface = "eth1";
    path.address = "10.0.0." + std::to_string(node + 1);
    path.round_trip = std::chrono::microseconds(80);
    path.speed_mbps = 9'400;
  }
  return attempt;
}

TEST(NetworkView, OneNameForAll) {
  EXPECT_EQ(network_lines("j", attempt_on(3)),
            "    network: eth1 on all 3 nodes; round trip 0.08 ms, 9.4 Gbit/s\n");
  AttemptView known = attempt_on(2);
  known.probe->cached = true;
  for (ChosenPath& path : known.probe->chosen) path.speed_mbps = 940;
  EXPECT_EQ(
      network_lines("j", known),
      "    network: eth1 on all 2 nodes; round trip 0.08 ms, 940 Mbit/s (measured earlier)\n");
}

TEST(NetworkView, ANameForEach) {
  AttemptView attempt = attempt_on(6);
  attempt.probe->chosen[1].interface = "ens5";
  attempt.probe->chosen[2].interface = "";
  for (ChosenPath& path : attempt.probe->chosen) {
    path.round_trip = Duration(0);
    path.speed_mbps = -1;
  }
  EXPECT_EQ(network_lines("j", attempt),
            "    network: eth1 on n1, ens5 on n2, 10.0.0.3 on n3, eth1 on n4 and 2 more\n");
}

TEST(NetworkView, WhatIsNotUsedIsSaidInOneLine) {
  AttemptView attempt = attempt_on(2);
  attempt.probe->failures.push_back(
      {0, 1, "192.168.9.2", "ib0", "192.168.9.3", 41'999, PathTrouble::no_route, 0});
  EXPECT_EQ(network_lines("j", attempt),
            "    network: eth1 on all 2 nodes; round trip 0.08 ms, 9.4 Gbit/s\n"
            "    another network is not used: n1 (192.168.9.2, ib0) cannot reach n2 (192.168.9.3) "
            "port 41999: no route\n");
  attempt.probe->broken = 1;
  EXPECT_EQ(network_lines("j", attempt), "") << "the attempt's end says it";
}

TEST(NetworkView, OfNoProbeNothing) {
  EXPECT_EQ(network_lines("j", AttemptView()), "");
  AttemptView attempt = attempt_on(2);
  attempt.probe->chosen.clear();
  EXPECT_EQ(network_lines("j", attempt), "");
}

}  // namespace
}  // namespace lockstep::cli
