// What becomes of a report whose trees cannot be checked.

#include "launcher/daemon/blobs/report_check.h"

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct ReportCheckTest : ::testing::Test {
  // The node reports this tree, and the check of it says `answer`.
  void report(Result<bool> answer) {
    answers = std::move(answer);
    CollectedOutput output;
    output.tree = sha256("tree");
    output.files = 1;
    PartReport part = lockstep::launcher::report(attempt(job), PartState::finished);
    part.outputs = {output};
    Observed observed;
    observed.node = node.id;
    observed.parts = {part};
    check.take(node.id, {}, observed);
  }
  const CollectedOutput& delivered_output() {
    return std::get<Observed>(delivered.at(0)).parts.at(0).outputs.at(0);
  }

  TestLauncher launcher;
  FakeNode node = launcher.join("n1");
  JobId job = launcher.submit(job_spec("job"));
  Result<bool> answers = true;
  std::vector<AgentMessage> delivered;
  std::vector<std::string> log;
  ReportCheck check{
      *launcher.core,
      [this](const Caller&, const Digest&, const std::function<void(Result<bool>)>& then) {
        then(answers);
      },
      [this](const NodeRequest&, AgentMessage message) { delivered.push_back(std::move(message)); },
      [this](std::string line) { log.push_back(std::move(line)); }};

  void TearDown() override { launcher.drop_notices(); }
};

TEST_F(ReportCheckTest, ACheckThatFailsTakesNothingAwayAndTheNodeSaysItAgain) {
  report(make_error(ErrorCode::unavailable, "the launcher stops"));
  EXPECT_TRUE(delivered.empty());
  ASSERT_EQ(log.size(), 1U);
  EXPECT_THAT(log[0], AllOf(HasSubstr("the launcher stops"), HasSubstr("again")));
  report(true);
  ASSERT_EQ(delivered.size(), 1U);
  EXPECT_EQ(delivered_output().tree, sha256("tree"));
  EXPECT_TRUE(delivered_output().problems.empty());
}

TEST_F(ReportCheckTest, ATreeThatIsTooLargeIsRefusedForThatReason) {
  report(make_error(ErrorCode::invalid_argument, "the folder has more than 5 files"));
  ASSERT_EQ(delivered.size(), 1U);
  EXPECT_FALSE(delivered_output().tree);
  ASSERT_EQ(delivered_output().problems.size(), 1U);
  EXPECT_THAT(delivered_output().problems[0],
              AllOf(HasSubstr("the folder has more than 5 files"), Not(HasSubstr("differ"))));
}

TEST_F(ReportCheckTest, ATreeThatIsNotTheNodesIsRefused) {
  report(false);
  ASSERT_EQ(delivered.size(), 1U);
  EXPECT_FALSE(delivered_output().tree);
  EXPECT_THAT(delivered_output().problems.at(0), HasSubstr("differ from what its node sent"));
}

TEST_F(ReportCheckTest, ATreeThatCanNeverBeCheckedDoesNotSilenceTheNode) {
  for (int i = 1; i < kMaxTreeChecks; ++i) report(make_error(ErrorCode::io, "a bad sector"));
  EXPECT_TRUE(delivered.empty());
  report(make_error(ErrorCode::io, "a bad sector"));
  ASSERT_EQ(delivered.size(), 1U);
  EXPECT_FALSE(delivered_output().tree);
  EXPECT_THAT(delivered_output().problems.at(0), HasSubstr("a bad sector"));
}

}  // namespace
}  // namespace lockstep::launcher
