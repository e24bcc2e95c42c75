// Which addresses of a node are tried.
#include "runner/fabric/probe/candidates.h"

#include <gtest/gtest.h>

namespace lockstep::runner {
namespace {

LocalAddress local(const std::string& interface, const std::string& address,
                   bool is_virtual = false) {
  return {interface, address, 24, 1500, true, false, is_virtual};
}

std::vector<std::string> names(const std::vector<ProbeCandidate>& candidates) {
  std::vector<std::string> all;
  for (const ProbeCandidate& each : candidates) all.push_back(each.interface);
  return all;
}

using Names = std::vector<std::string>;

TEST(CandidatesTest, WhatCannotLeadToOthersIsLeftOut) {
  std::vector<LocalAddress> all = {local("lo", "127.0.0.1"), local("eth0", "10.0.0.4"),
                                   local("eth1", "169.254.3.1"), local("eth2", "10.1.0.4"),
                                   local("odd", "not an address")};
  all[0].loopback = true;
  all[3].running = false;
  const auto candidates = candidates_of(all, "10.0.0.4", std::nullopt);
  EXPECT_EQ(names(candidates), Names{"eth0"});
  EXPECT_EQ(candidates[0].address, "10.0.0.4");
  EXPECT_EQ(candidates[0].mtu, 1500);
}

TEST(CandidatesTest, LinkLocalAddressesCountWhereNothingElseIs) {
  EXPECT_EQ(names(candidates_of({local("eth1", "169.254.3.1")}, "", std::nullopt)), Names{"eth1"});
  EXPECT_TRUE(candidates_of({}, "10.0.0.4", std::nullopt).empty());
}

TEST(CandidatesTest, TheKnownAddressComesFirstAndVirtualDevicesLast) {
  const std::vector<LocalAddress> all = {local("docker0", "172.17.0.1", true),
                                         local("eth0", "10.0.0.4"), local("eth1", "10.1.0.4"),
                                         local("eth1", "10.2.0.4")};
  EXPECT_EQ(names(candidates_of(all, "10.1.0.4", std::nullopt)),
            (Names{"eth1", "eth0", "docker0"}));
  EXPECT_EQ(names(candidates_of(all, "launcher-knows-a-name", std::nullopt)),
            (Names{"eth0", "eth1", "docker0"}));
  const auto other = candidates_of(all, "10.2.0.4", std::nullopt);
  EXPECT_EQ(other[0].address, "10.2.0.4") << "one of each interface, the known one if it is there";
  EXPECT_EQ(other.size(), 3U);
}

TEST(CandidatesTest, AnAddressThatIsPassedOnToTheNodeComesFirst) {
  const std::vector<LocalAddress> all = {local("eth0", "10.0.0.4")};
  const auto candidates = candidates_of(all, "203.0.113.9", std::nullopt);
  EXPECT_EQ(names(candidates), (Names{"", "eth0"}));
  EXPECT_EQ(candidates[0].address, "203.0.113.9");
  EXPECT_EQ(names(candidates_of(all, "n1.example.org", std::nullopt)), Names{"eth0"});
  EXPECT_EQ(names(candidates_of(all, "203.0.113.9", OperatorInterface{{"eth0"}, {}, ""})),
            Names{"eth0"});
}

TEST(CandidatesTest, TheyAreBounded) {
  std::vector<LocalAddress> all;
  for (int i = 0; i < 40; ++i)
    all.push_back(local("br" + std::to_string(i), "10." + std::to_string(i) + ".0.1", true));
  EXPECT_EQ(candidates_of(all, "10.30.0.1", std::nullopt).size(), kMaxProbeCandidates);
  EXPECT_EQ(candidates_of(all, "10.30.0.1", std::nullopt)[0].interface, "br30");
}

TEST(CandidatesTest, TheOperatorsInterfaceIsTheOnlyOneWhereItIsThere) {
  const std::vector<LocalAddress> all = {local("eth0", "10.0.0.4"), local("ib0", "10.9.1.4")};
  EXPECT_EQ(names(candidates_of(all, "10.0.0.4", OperatorInterface{{"ib9", "ib0"}, {}, ""})),
            Names{"ib0"});
  EXPECT_EQ(names(candidates_of(all, "10.0.0.4", OperatorInterface{{}, {"10.9.0.0/16"}, ""})),
            Names{"ib0"});
  EXPECT_EQ(names(candidates_of(all, "10.0.0.4", OperatorInterface{{"ib9"}, {"bad/x"}, ""})),
            (Names{"eth0", "ib0"}));
}

TEST(CandidatesTest, NamesAndNetworksAreNoAddresses) {
  EXPECT_TRUE(is_ipv4("10.0.0.4"));
  for (const char* text : {"", "n1", "10.0.0.0/24", "fe80::1", "10.0.0", "10.0.0.256"})
    EXPECT_FALSE(is_ipv4(text)) << text;
}

TEST(CandidatesTest, AFingerprintIsOfAllThatDecides) {
  const std::vector<LocalAddress> all = {local("eth0", "10.0.0.4")};
  const std::string one = fingerprint_of("boot:1", all, "routes");
  EXPECT_EQ(one.size(), kProbeFingerprintBytes);
  EXPECT_EQ(one, fingerprint_of("boot:1", all, "routes"));
  EXPECT_NE(one, fingerprint_of("boot:2", all, "routes"));
  EXPECT_NE(one, fingerprint_of("boot:1", all, "other routes"));
  EXPECT_NE(one, fingerprint_of("boot:1", {local("eth0", "10.0.0.5")}, "routes"));
  std::vector<LocalAddress> other = all;
  other[0].mtu = 9000;
  EXPECT_NE(one, fingerprint_of("boot:1", other, "routes"));
}

}  // namespace
}  // namespace lockstep::runner
