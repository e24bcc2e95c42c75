// Reasons that are read from the texts of earlier versions, and findings within reasons.

#include "common/domain/why/all/old_texts.h"

#include <gtest/gtest.h>

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/named_found.h"
#include "common/domain/why/jobs/steps.h"

namespace lockstep {
namespace {

TEST(OldTexts, OfAnEndAreWhatADecisionNeedsElseTold) {
  EXPECT_EQ(end_of_old("completed", Cause::completed, ""), Why(AllRanksCompleted{}));
  EXPECT_EQ(end_of_old("completed", Cause::exit_code, "n1"), told("completed"));
  const std::string unasked = "stopped its ranks although nobody asked for it";
  EXPECT_EQ(end_of_old("node n1 " + unasked, Cause::start_failed, "n1"), Why(StoppedUnasked{"n1"}));
  EXPECT_EQ(end_of_old("it " + unasked, Cause::start_failed, "n1"), told("it " + unasked));
  EXPECT_EQ(end_of_old("rank 0 (node n1) exited with code 3", Cause::exit_code, "n1"),
            told("rank 0 (node n1) exited with code 3"));
  EXPECT_FALSE(end_of_old("", Cause::completed, ""));
}

TEST(OldTexts, OfAPipelineNameTheStep) {
  const Why why = end_of_old("step 'train' (job p_train): rank 0 failed: (see above): no",
                             Cause::exit_code, "n1");
  EXPECT_EQ(why,
            Why(StepEndedBadly{"train", JobId("p_train"), told("rank 0 failed: (see above): no")}));
  for (const char* other : {"step 'train'", "step 'train' failed", "step 'a' (job b", "a step 'b'"})
    EXPECT_EQ(end_of_old(other, Cause::exit_code, ""), told(other));
}

TEST(OldTexts, OfARetryAreCutWhereTheEndIsOver) {
  EXPECT_EQ(retry_of_old("boom; retry 1 of 3", told("boom")),
            Why(RetriedAfter{told("boom"), told("retry 1 of 3")}));
  EXPECT_EQ(retry_of_old("boom; retry 1 of 3", told("bang")), told("boom; retry 1 of 3"));
  EXPECT_EQ(retry_of_old("boom; retry 1 of 3", Why()), told("boom; retry 1 of 3"));
  const Why unasked = StoppedUnasked{"n1"};
  EXPECT_EQ(
      retry_of_old("node n1 stopped its ranks although nobody asked for it; retry 1 of 3", unasked),
      Why(RetriedAfter{unasked, told("retry 1 of 3")}));
}

std::string name_of(int node_rank) { return "n" + std::to_string(node_rank); }

TEST(NamedFound, IsTheFindingAgain) {
  Found found;
  found.kind = FoundKind::cycle;
  found.verdict = FoundVerdict::hangs;
  found.about = FoundAbout::lock;
  found.ranks = {{3, 1, "locks", "futex", "", "a.py:3", 0}};
  found.waiting = {0, 1, 2, 7, 9, 10};
  found.lasting = seconds(130);
  found.fact = "lock";
  const NamedFound named = lockstep::named(found, "train", 2, name_of);
  EXPECT_EQ(named.waiting, (std::vector<RankSpan>{{0, 2}, {7, 7}, {9, 10}}));
  EXPECT_EQ(named.nodes, (std::vector<RankedNode>{{0, "n0"}, {1, "n1"}}));
  EXPECT_EQ(found_of(named), found);
}

TEST(NamedFound, IsSmallHoweverManyRanksWait) {
  Found found;
  for (int rank = 0; rank < 2'000; ++rank) found.waiting.push_back(2 * rank);
  const NamedFound named = lockstep::named(found, "train", 0, name_of);
  EXPECT_EQ(named.waiting.size(), kMaxWaitingSpans);
  EXPECT_EQ(found_of(named).waiting.size(), found.waiting.size()) << "their number is true";
  EXPECT_EQ(found_of(named).waiting[kMaxWaitingSpans - 1], found.waiting[kMaxWaitingSpans - 1]);
}

TEST(NamedFound, OfAHostilePeerIsBounded) {
  NamedFound named;
  named.waiting = {{0, 2'000'000'000}, {5, 2'000'000'000}};
  named.more_waiting = 2'000'000'000;
  EXPECT_EQ(found_of(named).waiting.size(), kMaxFoundWaiting);
}

}  // namespace
}  // namespace lockstep
