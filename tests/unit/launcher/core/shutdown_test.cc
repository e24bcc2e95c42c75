// `lockstep down`, as the core sees it.

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

TEST(Shutdown, WithoutJobsIsGrantedAtOnce) {
  TestLauncher launcher;
  launcher.send(ShutdownInput{{7, 8}, false});
  EXPECT_EQ(launcher.expect_one<ExitDaemon>().to.client, 7U);
}

TEST(Shutdown, IsRefusedWhileJobsRun) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  launcher.submit(job_spec("a"));
  launcher.submit(job_spec("b"));
  launcher.send(ShutdownInput{{7, 8}, false});
  const ReplyRefused refused = launcher.expect_one<ReplyRefused>();
  EXPECT_EQ(refused.code, ErrorCode::conflict);
  EXPECT_THAT(refused.message, HasSubstr("1 job runs and 1 waits"));
  EXPECT_THAT(refused.message, HasSubstr("lockstep down --cancel"));
}

TEST(Shutdown, WithCancelEndsWhenAllJobsAreFinal) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId running = launcher.submit(job_spec("running"));
  const JobId queued = launcher.submit(job_spec("queued"));
  launcher.send(ShutdownInput{{7, 8}, true});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(queued), JobStatus::canceled);
  EXPECT_EQ(launcher.status(running), JobStatus::cancel_requested);
  EXPECT_EQ(launcher.submit_refused(job_spec("late")).code, ErrorCode::unavailable);
  PartReport end = report(attempt(running), PartState::finished);
  end.exit = node_exit({terminated(0)});
  launcher.observe(n1, end);
  launcher.expect_one<ExitDaemon>();
  launcher.drop_notices();
}

TEST(Shutdown, SaysSoWhenAJobDoesNotEndInTime) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  launcher.submit(job_spec("stuck"));
  launcher.send(ShutdownInput{{7, 8}, true});
  launcher.drop_notices();
  std::vector<ReplyRefused> refused;
  for (int second = 0; second < 120 && refused.empty(); ++second) {
    launcher.tick(seconds(1));
    refused = launcher.take<ReplyRefused>();
    launcher.drop_notices();
    if (refused.empty()) launcher.beat(n1);
    launcher.drop_notices();
  }
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].code, ErrorCode::deadline_exceeded);
  EXPECT_THAT(refused[0].message, HasSubstr("stuck"));
}

}  // namespace
}  // namespace lockstep::launcher
