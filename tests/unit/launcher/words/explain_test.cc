// What the golden file does not show: lines that differ with what a reason has.

#include "launcher/words/jobs/say_explain.h"

#include <gtest/gtest.h>

#include "common/domain/messages/views.h"
#include "common/domain/why/jobs/explain.h"
#include "launcher/words/why.h"

namespace lockstep::words {
namespace {

TEST(ExplainWords, CountFilesAndNameTheFirst) {
  const auto line = [](ChangedFiles files) {
    return text_of(RunsAgain{JobId("p"), {{"code", std::move(files)}}});
  };
  EXPECT_EQ(line({0, 0, 1, "train.py"}),
            "rerun because the code changed: 1 file, first train.py (since job 'p')");
  EXPECT_EQ(line({1, 0, 2, "a\nb"}),
            "rerun because the code changed: 3 files, first \"a\\nb\" (1 added, 2 changed) (since "
            "job 'p')");
  EXPECT_EQ(
      line({0, 4, 0, "x", true}),
      "rerun because the code changed: more than 4 files, first x (4 removed) (since job 'p')");
  EXPECT_EQ(text_of(RunsAgain{JobId("p"), {{"command", {}}, {"variable 'MORE'", {}}}}),
            "rerun because command changed; variable 'MORE' changed (since job 'p')");
}

TEST(ExplainWords, NamePrioritiesThatDiffer) {
  EXPECT_EQ(text_of(JobsAreAhead{{{JobId("a"), Priority::high}, {JobId("b"), {}}}, 3}),
            "ahead of it: job 'a' (priority high), job 'b' and 3 more");
  EXPECT_EQ(text_of(JobsAreAhead{{{JobId("a"), {}}}, 0}), "ahead of it: job 'a'");
}

TEST(ExplainWords, SayWhatWouldLetItStart) {
  EXPECT_EQ(text_of(CouldStartBefore{JobId("a"), {}, {}}), "it could start only after job 'a'");
  EXPECT_EQ(text_of(CouldStartBefore{JobId("a"), minutes(10), {}}),
            "with a limits.timeout of at most 10m00s it could start before job 'a'");
  EXPECT_EQ(text_of(CouldStartBefore{JobId("a"), minutes(10), minutes(20)}),
            "with a limits.timeout of at most 10m00s it could start before job 'a'; it has 20m00s");
}

TEST(ExplainWords, OfAShareCountWhoGoesFirst) {
  const std::string opening =
      "user ann has a share of 0.50 of target 'local' (what its jobs hold, and its recent use); "
      "within priority medium ";
  const auto line = [](int before) {
    return text_of(ShareOfUser{"ann", 0.5, "local", Priority::medium, before});
  };
  EXPECT_EQ(line(0), opening + "no user with a smaller share waits");
  EXPECT_EQ(line(1), opening + "1 user with a smaller share goes first");
  EXPECT_EQ(line(2), opening + "2 users with a smaller share go first");
}

TEST(ExplainWords, OfAnEndHaveItsReasonOrItsCause) {
  EXPECT_EQ(text_of(AttemptEndedWith{Cause::exit_code, told("it failed")}), "ended: it failed");
  EXPECT_EQ(text_of(AttemptEndedWith{Cause::start_failed, {}}), "ended: start_failed");
  EXPECT_EQ(text_of(AttemptWasFollowed{}), "then: retried");
  EXPECT_EQ(text_of(ExplainLine{AttemptEndedLike{1}, {}, 1}), "  ended: as attempt 1");
}

}  // namespace
}  // namespace lockstep::words
