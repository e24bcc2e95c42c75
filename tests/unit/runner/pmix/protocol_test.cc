// What a runner and its lockstep-pmix send each other: each message as it was, and nothing else.

#include "runner/pmix/protocol.h"

#include <gtest/gtest.h>

namespace lockstep::pmix {
namespace {

const Job kJob{"gray_pig.2", {"n1", "n2"}, 1, 4};

std::vector<Order> orders() {
  return {Start{1, "/attempt/tmp/pmix", kJob}, RegisterRank{2, 5, 1000, 4294967294U}, Fetch{3, 7},
          Answer{4, true, std::string("a\0b", 3)}};
}

std::vector<Report> reports() {
  return {Hello{kProtocol, "OpenPMIx 4.2.2"},
          Done{1, "an error", {{"PMIX_A", "b"}, {"PMIX_C", ""}}},
          Fetched{2, true, std::string(100'000, 'x')},
          Connected{4},
          Finalized{5},
          Aborted{6, -3, "why"},
          Fence{18446744073709551615U, false, {-1, 4, 6}, "data"},
          Modex{9, 2},
          Refused{4, "MPI_Comm_spawn"},
          TurnedAway{8, "it is of uid 1002"}};
}

TEST(PmixProtocol, EveryMessageArrivesAsItWas) {
  ASSERT_EQ(orders().size(), std::variant_size_v<Order>);
  ASSERT_EQ(reports().size(), std::variant_size_v<Report>);
  for (const Order& order : orders()) EXPECT_EQ(decode_order(encode(order)), order);
  for (const Report& report : reports()) EXPECT_EQ(decode_report(encode(report)), report);
}

TEST(PmixProtocol, NoPartOfAMessageIsOne) {
  for (const Report& report : reports()) {
    const std::string bytes = encode(report);
    const std::size_t looked_at = std::min<std::size_t>(bytes.size(), 200);
    for (std::size_t length = 0; length < looked_at; ++length)
      EXPECT_FALSE(decode_report(bytes.substr(0, length))) << report.index() << " " << length;
    EXPECT_FALSE(decode_report(bytes + '\0'));
  }
  EXPECT_FALSE(decode_report(std::string(1, static_cast<char>(std::variant_size_v<Report>))));
}

TEST(PmixProtocol, TextsAreCut) {
  const auto report = decode_report(encode(Report(Aborted{1, 2, std::string(10'000, 'x')})));
  ASSERT_TRUE(report);
  EXPECT_EQ(std::get<Aborted>(*report).message.size(), kMaxText);
}

// A report as encode() makes it, but with one number changed.
std::string changed(const Report& report, std::size_t at, char to) {
  std::string bytes = encode(report);
  bytes.at(at) = to;
  return bytes;
}

TEST(PmixProtocol, LimitsHold) {
  EXPECT_FALSE(decode_report(changed(Aborted{1, 2, "why"}, 1 + 4 + 4 + 3, '\x7f')));  // the length
  EXPECT_FALSE(decode_report(changed(Fence{1, false, {1}, ""}, 1 + 8, 2)));           // the flag
  Done many;
  for (std::size_t i = 0; i <= kMaxVariables; ++i)
    many.variables["PMIX_" + std::to_string(100 + i)] = "x";
  EXPECT_FALSE(decode_report(encode(Report(many))));
  // Two ranks that are the same, and a count of ranks that nothing follows.
  EXPECT_FALSE(decode_report(changed(Fence{1, false, {1, 2}, ""}, 1 + 8 + 1 + 4 + 4, 1)));
  EXPECT_FALSE(decode_report(changed(Fence{1, false, {1, 2}, ""}, 1 + 8 + 1 + 3, '\x3f')));
}

}  // namespace
}  // namespace lockstep::pmix
