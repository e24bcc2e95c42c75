#include "launcher/cli/follow/log_selection.h"

#include <gmock/gmock.h>

#include "launcher/cli/terminal/line_matcher.h"

namespace lockstep::cli {
namespace {

using testing::HasSubstr;

const Instant kNow{1'800'000'000'000'000'000};  // 2027-01-15T08:00:00Z

TEST(ParseSince, HowLongAgo) {
  EXPECT_EQ(parse_since("10m", kNow).value(), kNow - minutes(10));
  EXPECT_EQ(parse_since("90", kNow).value(), kNow - seconds(90));
  EXPECT_EQ(parse_since("0s", kNow).value(), kNow);
}

TEST(ParseSince, Rfc3339WithItsZone) {
  EXPECT_EQ(parse_since("2027-01-15T08:00:00Z", {}).value(), kNow);
  EXPECT_EQ(parse_since("2027-01-15T09:30:00+01:30", {}).value(), kNow);
  EXPECT_EQ(parse_since("2027-01-15T07:00:00.250-01:00", {}).value(), kNow + milliseconds(250));
  EXPECT_EQ(parse_since(to_string(kNow), {}).value(), kNow) << "as we print it";
}

TEST(ParseSince, ADayBeginsAtMidnightAsTimesArePrinted) {
  EXPECT_EQ(parse_since("2027-01-15", {}).value(), kNow - minutes(8 * 60));
}

TEST(ParseSince, WhatIsNoTimeIsRefusedWithWhatWouldBe) {
  for (const char* text :
       {"", "soon", "-5m", "2027-01-32", "2027-1-15", "2027-01-15T08:00:00", "2027-13-15T08:00:00Z",
        "2027-01-15T08:00:00+1:00", "2027-01-15T08:00:00.Z", "2027-01-15T08:00:00Zx",
        "1027-01-15T08:00:00Z", "2027-01-15 08:00:00Z"}) {
    const auto parsed = parse_since(text, kNow);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("10m"));
  }
}

TEST(LineMatcher, FindsInLinesOfBytes) {
  const LineMatcher matcher = LineMatcher::compile("loss=(nan|inf)$").value();
  EXPECT_TRUE(matcher("step 3 loss=nan\n"));
  EXPECT_TRUE(matcher("loss=inf"));
  EXPECT_FALSE(matcher("loss=nano\n"));
  EXPECT_FALSE(matcher(""));
  EXPECT_TRUE(matcher(std::string("\xff\0\x1b loss=nan", 12)));
  EXPECT_TRUE(LineMatcher::compile("(?i)ERROR").value()("an error"));
  EXPECT_TRUE(LineMatcher::compile("^$").value()("\n"));
}

TEST(LineMatcher, WhatIsNoExpressionIsRefused) {
  for (const char* text : {"(", "a{2,1}", "[z-a]", "*", "\\"}) {
    const auto compiled = LineMatcher::compile(text);
    ASSERT_FALSE(compiled) << text;
    EXPECT_THAT(compiled.error().message, HasSubstr("is not a valid regular expression"));
  }
}

// Backtracking would take longer than the universe has.
TEST(LineMatcher, AHostileExpressionTakesNoTime) {
  const LineMatcher matcher = LineMatcher::compile("(a*)*(a*)*(a*)*b").value();
  EXPECT_FALSE(matcher(std::string(100'000, 'a')));
}

JobSpec spec_of(int nodes, int ranks) {
  JobSpec spec;
  spec.name = "j";
  spec.resources.instance_count = nodes;
  spec.distribution.processes_per_node = ranks;
  return spec;
}

TEST(ApplySelection, BecomesAFilterAndAWayToShow) {
  LogSelection selection;
  selection.rank = 3;
  selection.only_err = true;
  selection.tail = 5;
  selection.since = "10m";
  selection.grep = "x";
  selection.timestamps = true;
  FollowOptions follow;
  ASSERT_TRUE(apply(selection, "job logs", spec_of(2, 2), kNow, &follow));
  EXPECT_EQ(follow.filter.rank, 3);
  EXPECT_EQ(follow.filter.stream, LogStream::err);
  EXPECT_EQ(follow.filter.tail_lines, 5);
  EXPECT_EQ(follow.filter.since, kNow - minutes(10));
  EXPECT_TRUE(follow.timestamps);
  EXPECT_TRUE(follow.single_log);
  ASSERT_TRUE(follow.wanted);
  EXPECT_TRUE(follow.wanted("x\n"));
}

TEST(ApplySelection, TheLogOfAnEnvironmentIsOneOfEachNode) {
  LogSelection selection;
  selection.environment = true;
  const auto applied = [&](int nodes, int ranks) {
    JobSpec spec = spec_of(nodes, ranks);
    spec.environment.emplace();
    FollowOptions follow;
    EXPECT_TRUE(apply(selection, "job logs", spec, kNow, &follow));
    EXPECT_EQ(follow.filter.stream, LogStream::environment);
    return follow;
  };
  EXPECT_TRUE(applied(1, 8).single_log) << "one node, whatever ranks it has";
  EXPECT_FALSE(applied(2, 1).single_log);
  selection.node = 1;
  EXPECT_TRUE(applied(2, 1).single_log);
  EXPECT_EQ(applied(2, 1).filter.node_rank, 1);
  selection.environment = false;
  FollowOptions follow;
  ASSERT_TRUE(apply(selection, "job logs", spec_of(2, 1), kNow, &follow));
  EXPECT_FALSE(follow.filter.stream);
}

TEST(FindNode, TakesItsNameOrItsRankInTheJob) {
  JobView job;
  job.spec = spec_of(2, 1);
  LogSelection named, ranked, wrong;
  named.node_word = "vm2";
  EXPECT_EQ(find_node(&named, "job logs", job, 0).error().message,
            "job logs: j has not been placed on nodes yet");
  AttemptView attempt;
  attempt.parts.resize(2);
  attempt.parts[0].node_name = "vm1";
  attempt.parts[1].node_name = "vm2";
  attempt.parts[1].node_rank = 1;
  job.attempts = {attempt};
  ASSERT_TRUE(find_node(&named, "job logs", job, 1));
  EXPECT_EQ(named.node, 1);
  ranked.node_word = "0";
  ASSERT_TRUE(find_node(&ranked, "job logs", job, 0));
  EXPECT_EQ(ranked.node, 0);
  wrong.node_word = "vm3";
  EXPECT_EQ(find_node(&wrong, "job logs", job, 0).error().message,
            "job logs: attempt 1 of j did not run on a node 'vm3'; its nodes: vm1, vm2");
}

TEST(ApplySelection, WhatTheJobDoesNotHaveIsNamed) {
  FollowOptions follow;
  const auto refused = [&](const LogSelection& selection) {
    const Status done = apply(selection, "job stream", spec_of(2, 2), kNow, &follow);
    return done ? std::string() : done.error().message;
  };
  LogSelection rank, node, since, grep, environment;
  environment.environment = true;
  EXPECT_EQ(refused(environment), "job stream: j has no environment, so it has no environment log");
  rank.rank = 4;
  EXPECT_EQ(refused(rank), "job stream: j has no rank 4; its ranks are 0 to 3");
  node.node = 2;
  EXPECT_EQ(refused(node), "job stream: j has no node 2; its nodes are 0 to 1");
  since.since = "soon";
  EXPECT_THAT(refused(since), HasSubstr("job stream: --since 'soon' is not a time"));
  grep.grep = "(";
  EXPECT_THAT(refused(grep), HasSubstr("job stream: --grep '(' is not a valid regular expression"));
}

}  // namespace
}  // namespace lockstep::cli
