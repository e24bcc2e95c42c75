#include "launcher/words/found/say_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/launcher/words/gang_of_four.h"

namespace lockstep::words {
namespace {

using ::testing::HasSubstr;

PathFailure path(PathTrouble trouble) {
  return {1, 2, "10.0.0.4", "eth1", "10.0.0.5", 41'999, trouble, 0};
}

TEST(PathWords, NameBothEndsAndWhatToDo) {
  EXPECT_EQ(say(path(PathTrouble::no_route), kTrain).what,
            "n1 (10.0.0.4, eth1) cannot reach n2 (10.0.0.5) port 41999: no route");
  EXPECT_EQ(say(path(PathTrouble::refused), kTrain).what,
            "n1 (10.0.0.4, eth1) cannot reach n2 (10.0.0.5) port 41999: refused");
  EXPECT_EQ(say(path(PathTrouble::timed_out), kTrain).what,
            "n1 (10.0.0.4, eth1) cannot reach n2 (10.0.0.5) port 41999: timed out");
  EXPECT_THAT(say(path(PathTrouble::timed_out), kTrain).remedy, HasSubstr("firewall"));
  PathFailure large = path(PathTrouble::large_packets_lost);
  large.mtu = 1'400;
  EXPECT_EQ(say(large, kTrain).what,
            "n1 (10.0.0.4, eth1) cannot reach n2 (10.0.0.5) port 41999: packets above 1400 bytes "
            "are lost");
  EXPECT_THAT(say(large, kTrain).remedy, HasSubstr("set the MTU of eth1 on n1, "));
}

TEST(PathWords, UnknownPartsAreLeftOut) {
  PathFailure failure = path(PathTrouble::timed_out);
  failure.from_interface = failure.from_address = "";
  failure.port = 0;
  EXPECT_EQ(say(failure, kTrain).what, "n1 cannot reach n2 (10.0.0.5): timed out");
  failure.to_address = "";
  EXPECT_EQ(say(failure, kTrain).what, "n1 cannot reach n2: timed out");
}

TEST(PathWords, OfSeveralTheFirstAndHowMany) {
  const PathFailure one = path(PathTrouble::timed_out);
  EXPECT_THAT(say_all({one, one}, kTrain).what, HasSubstr("and 1 more path of the gang fails"));
  EXPECT_THAT(say_all({one, one, one}, kTrain).what,
              HasSubstr("and 2 more paths of the gang fail"));
}

TEST(PathWords, HostileTextsStayInTheirLine) {
  PathFailure failure = path(PathTrouble::large_packets_lost);
  failure.from_interface = "eth0\n\x1b[2J";
  failure.to_address = std::string(9'000, '1');
  const Said said = say(failure, kTrain);
  EXPECT_EQ((said.what + said.remedy).find_first_of("\n\x1b"), std::string::npos);
  EXPECT_LT(said.what.size(), 1'000u);
}

}  // namespace
}  // namespace lockstep::words
