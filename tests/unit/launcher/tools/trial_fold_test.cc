// Facts that contradict each other end State's process; who asks first is told at which.

#include "launcher/tools/trial_fold.h"

#include <gmock/gmock.h>

#include "common/domain/why/jobs/orders.h"

namespace lockstep::launcher {
namespace {

TEST(TrialFold, WholeFactsFold) {
  const std::vector<StampedFact> facts{
      {{1}, NodeJoined{NodeId(1), "n1", PublicKey("k"), {}}},
      {{2}, NodeDrainChanged{NodeId(1), true, "disk"}},
  };
  EXPECT_EQ(why_not_folding(facts), std::nullopt);
  EXPECT_EQ(why_not_folding({}), std::nullopt);
}

TEST(TrialFold, TheFactThatContradictsIsNamed) {
  const std::vector<StampedFact> facts{
      {{1}, NodeJoined{NodeId(1), "n1", PublicKey("k"), {}}},
      {{2}, CancelRequested{JobId("nobody"), AskedBy{"ann"}}},
  };
  const auto why = why_not_folding(facts);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, testing::HasSubstr("row 2"));
  EXPECT_THAT(*why, testing::HasSubstr("never submitted"));
}

}  // namespace
}  // namespace lockstep::launcher
