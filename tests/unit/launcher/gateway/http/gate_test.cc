#include "launcher/gateway/http/site/gate.h"

#include <gtest/gtest.h>

#include <optional>

namespace lockstep::http {
namespace {

constexpr Instant kStart{1'700'000'000'000'000'000};

Gate::Settings small() {
  Gate::Settings settings;
  settings.requests_of_user = {2, 1};
  settings.streams_of_user = 2;
  settings.streams = 3;
  settings.checks_of_address = 1;
  settings.checks = 2;
  return settings;
}

TEST(GateTest, AUsersRequestsAreCountedApart) {
  Gate gate(small());
  EXPECT_TRUE(gate.take_request("ann", kStart));
  EXPECT_TRUE(gate.take_request("ann", kStart));
  EXPECT_FALSE(gate.take_request("ann", kStart));
  EXPECT_TRUE(gate.take_request("bob", kStart));
  EXPECT_TRUE(gate.take_request("ann", kStart + seconds(1)));
}

TEST(GateTest, StreamsAreGivenBack) {
  Gate gate(small());
  auto first = gate.take_stream("ann");
  auto second = gate.take_stream("ann");
  EXPECT_TRUE(first && second);
  EXPECT_EQ(gate.take_stream("ann"), nullptr) << "two of a user";
  const auto third = gate.take_stream("bob");
  EXPECT_NE(third, nullptr);
  EXPECT_EQ(gate.take_stream("eve"), nullptr) << "three of all";
  first.reset();
  EXPECT_NE(gate.take_stream("eve"), nullptr);
}

TEST(GateTest, ChecksAreCountedByAddress) {
  Gate gate(small());
  const auto first = gate.take_check("10.0.0.1");
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(gate.take_check("10.0.0.1"), nullptr);
  const auto second = gate.take_check("10.0.0.2");
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(gate.take_check("10.0.0.3"), nullptr);
}

TEST(GateTest, APlaceMayOutliveTheGate) {
  std::optional<Gate> gate(std::in_place, small());
  const auto place = gate->take_stream("ann");
  gate.reset();
  EXPECT_NE(place, nullptr);
}

}  // namespace
}  // namespace lockstep::http
