#include "common/domain/job/keep.h"

#include <gtest/gtest.h>

#include "common/domain/messages/views.h"

namespace lockstep {
namespace {

TEST(Keep, PatternsOfAnIgnoreFileAreTaken) {
  for (const char* good : {"*.pt", "checkpoints/", "/a/b", "a/**/b", "**/x", "[a-z]*", "[]x]",
                           "a b", "\\#x", "!*.tmp", "\\[x", "[[:digit:]]", "...", "a\\ "})
    EXPECT_EQ(fault_of_keep(good), "") << good;
  EXPECT_TRUE(validate_keep({"*.pt", "!x.pt"}));
  EXPECT_EQ(fault_of_keep("**/a*/b*/c*/**/d*/e*/**"), "");
  EXPECT_TRUE(validate_keep({}));
}

TEST(Keep, PatternsThatCanMatchNothingAreRefused) {
  const auto has = [](const std::string& pattern, const std::string& words) {
    EXPECT_NE(fault_of_keep(pattern).find(words), std::string::npos)
        << pattern << ": " << fault_of_keep(pattern);
  };
  for (const char* nothing : {"", " ", "/", "!", "!/", "//"}) has(nothing, "it names nothing");
  has("./model.pt", "'.' is not a file name");
  has("../model.pt", "'..' is not a file name");
  has("a/../b", "'..' is not a file name");
  has("a//b", "it has '//'");
  has("#x", "write \\#");
  has("a[bc", "its '[' has no ']'");
  has("a[]bc", "its '[' has no ']'");
  has("a\\", "nothing follows its last backslash");
  has("a\nb", "control character");
  has(std::string("a\0b", 3), "control character");
  has("*a*b*c*d*e*f*g*h*i", "it has 9 stars; at most 8 are possible");
  has(std::string(256, 'a'), "it has 256 bytes; at most 255 are possible");
}

TEST(Keep, AListHasABoundAndTakesSomething) {
  EXPECT_TRUE(validate_keep(std::vector<std::string>(100, "a")));
  const Status many = validate_keep(std::vector<std::string>(101, "a"));
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().message,
            "lockstep.keep: there are 101 patterns; at most 100 are possible");
  const Status none = validate_keep({"!a", "!b"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "lockstep.keep: nothing is kept: all patterns begin with '!'");
  EXPECT_EQ(validate_keep({"a\nb/"}).error().message,
            "lockstep.keep: pattern \"a\\nb/\": it holds a control character");
}

TEST(Keep, APatternIsUnmatchedWhenItIsOnEveryNodeOfAJobThatCompleted) {
  JobView job;
  job.spec.keep = {"a", "b", "c"};
  job.attempts.resize(1);
  job.attempts[0].parts.resize(2);
  job.attempts[0].parts[0].not_kept.emplace().unmatched = {0, 1};
  EXPECT_TRUE(unmatched_keep(job).empty());
  job.status = JobStatus::completed;
  EXPECT_TRUE(unmatched_keep(job).empty()) << "of one node nothing is known";
  job.attempts[0].parts[1].not_kept.emplace().unmatched = {1, 2};
  EXPECT_EQ(unmatched_keep(job), std::vector<std::string>{"b"});
  job.status = JobStatus::failed;
  EXPECT_TRUE(unmatched_keep(job).empty());
}

}  // namespace
}  // namespace lockstep
