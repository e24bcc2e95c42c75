// Jobs that wait for other jobs, or for a time.

#include "common/domain/why/jobs/waits.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

JobSpec after(const std::string& name, const std::vector<After>& jobs) {
  JobSpec spec = job_spec(name);
  spec.queue.after = jobs;
  return spec;
}

After completed(const char* name) { return {JobId(name), AfterWhen::completed}; }
After ended(const char* name) { return {JobId(name), AfterWhen::ended}; }

void finish(TestLauncher& launcher, FakeNode& node, const JobId& job, int code = 0) {
  launcher.run_solo(node, attempt(job),
                    node_exit({code == 0 ? rank_exit(0) : rank_exit(0, Cause::exit_code, code)}));
}

TEST(After, AJobStartsWhenTheJobsBeforeItHaveCompleted) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId a = launcher.submit(job_spec("a"));
  const JobId b = launcher.submit(job_spec("b"));
  const JobId c = launcher.submit(after("c", {completed("a"), completed("b")}));
  const JobId d = launcher.submit(job_spec("d"));
  EXPECT_EQ(launcher.why(c), (WaitsForJobs{a, AfterWhen::completed, 1}));
  EXPECT_EQ(launcher.view(c).queue_position, 0);
  EXPECT_EQ(launcher.view(d).queue_position, 1) << "it waits for nobody";
  finish(launcher, n1, a);
  EXPECT_EQ(launcher.why(c), (WaitsForJobs{b, AfterWhen::completed, 0}));
  EXPECT_EQ(launcher.status(d), JobStatus::preparing);
  launcher.restart();
  launcher.open(n1, {report(attempt(d), PartState::running)});
  launcher.drop_notices();
  launcher.open(n2, {report(attempt(b), PartState::running)});
  launcher.drop_notices();
  EXPECT_EQ(launcher.why(c), (WaitsForJobs{b, AfterWhen::completed, 0}));
  finish(launcher, n2, b);
  EXPECT_EQ(launcher.status(c), JobStatus::preparing);
}

TEST(After, AJobIsCanceledWhenOneBeforeItFails) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId a = launcher.submit(job_spec("a"));
  const JobId b = launcher.submit(after("b", {completed("a")}));
  const JobId c = launcher.submit(after("c", {completed("b")}));
  const JobId any = launcher.submit(after("any", {ended("b")}));
  EXPECT_EQ(launcher.why(any), (WaitsForJobs{b, AfterWhen::ended, 0}));
  finish(launcher, n1, a, 3);
  EXPECT_EQ(launcher.status(b), JobStatus::canceled);
  EXPECT_EQ(launcher.view(b).reason,
            "it was to run after job 'a' had completed, and that job is Failed");
  EXPECT_EQ(launcher.view(c).reason,
            "it was to run after job 'b' had completed, and that job is Canceled");
  EXPECT_EQ(launcher.view(c).report->exit_code, 130);
  EXPECT_EQ(launcher.status(any), JobStatus::preparing);
}

TEST(After, AJobThatHasEndedIsNotWaitedFor) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId good = launcher.submit(job_spec("good"));
  finish(launcher, n1, good);
  const JobId bad = launcher.submit(job_spec("bad"));
  finish(launcher, n1, bad, 1);
  const JobId never = launcher.submit(after("never", {completed("bad")}));
  EXPECT_EQ(launcher.status(never), JobStatus::canceled);
  const JobId next = launcher.submit(after("next", {completed("good"), ended("bad")}));
  EXPECT_EQ(launcher.status(next), JobStatus::preparing);
}

TEST(After, AJobMayBeDeletedWhenItsEndWasLookedAt) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId a = launcher.submit(job_spec("a"));
  const JobId b = launcher.submit(job_spec("b"));
  const JobId c = launcher.submit(after("c", {completed("a"), completed("b")}));
  finish(launcher, n1, a);
  launcher.send(DeleteInput{launcher.next_reply(), {a}, false, {}, LauncherItself{}});
  launcher.take<ReplyDeleted>();
  launcher.take<ForgetJob>();
  launcher.drop_notices();
  EXPECT_EQ(launcher.submit_refused(after("d", {completed("a")})).message,
            "lockstep.after: there is no job 'a'; `lockstep job list` shows all");
  const JobId other = launcher.submit(job_spec("a"));  // another job with its name
  EXPECT_EQ(launcher.status(other), JobStatus::preparing);
  EXPECT_EQ(launcher.why(c), (WaitsForJobs{b, AfterWhen::completed, 0}));
  finish(launcher, n2, b);
  EXPECT_EQ(launcher.status(c), JobStatus::preparing);
}

TEST(After, AWaitingJobCanBeCanceled) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId a = launcher.submit(job_spec("a"));
  const JobId b = launcher.submit(after("b", {completed("a")}));
  launcher.cancel(b);
  EXPECT_EQ(launcher.status(b), JobStatus::canceled);
  EXPECT_TRUE(launcher.core->state().dependents(a).empty());
  finish(launcher, n1, a);
}

TEST(After, RefusesJobsThatTheCallerMayNotRead) {
  TestLauncher launcher;
  for (const char* user : {"ann", "bob"}) {
    launcher.send(
        PrincipalInput{{}, AddUser{user, "", {}, {Role::submitter, "default"}}, LauncherItself{}});
    launcher.take<ReplyDone>();
  }
  JobSpec spec = job_spec("of-ann");
  spec.submitter = "ann";
  launcher.submit(spec);
  launcher.send(SubmitInput{launcher.next_reply(), "s", after("of-bob", {ended("of-ann")}), "",
                            false, UserCaller{"bob"}});
  const auto refusal = launcher.expect_one<ReplyRefused>();
  EXPECT_EQ(refusal.code, ErrorCode::permission_denied);
  EXPECT_THAT(refusal.message, HasSubstr("lockstep.after: user 'bob' may not read"));
}

TEST(NotBefore, AJobStartsWhenItsTimeHasCome) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("later");
  spec.queue.delay = minutes(10);
  const JobId later = launcher.submit(spec);
  EXPECT_EQ(launcher.view(later).spec.queue.delay, Duration{0});
  EXPECT_EQ(launcher.view(later).spec.queue.not_before, launcher.now + minutes(10));
  EXPECT_EQ(launcher.why(later), WaitsForTime{launcher.now + minutes(10)});
  EXPECT_EQ(launcher.view(later).retry_at.ns, 0);
  EXPECT_EQ(launcher.view(later).queue_position, 0);
  const JobId now = launcher.submit(job_spec("now"));
  EXPECT_EQ(launcher.status(now), JobStatus::preparing);
  finish(launcher, n1, now);
  launcher.pass(minutes(9), {&n1});
  EXPECT_EQ(launcher.status(later), JobStatus::queued);
  launcher.restart();
  launcher.open(n1);
  launcher.drop_notices();
  launcher.pass(minutes(2), {&n1});
  EXPECT_EQ(launcher.status(later), JobStatus::preparing);
}

TEST(NotBefore, CountsAfterTheJobsBeforeIt) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId a = launcher.submit(job_spec("a"));
  JobSpec spec = after("b", {completed("a")});
  spec.queue.delay = minutes(1);
  const JobId b = launcher.submit(spec);
  finish(launcher, n1, a);
  EXPECT_TRUE(launcher.why(b).is<WaitsForTime>());
  launcher.pass(minutes(2), {&n1});
  EXPECT_EQ(launcher.status(b), JobStatus::preparing);
}

}  // namespace
}  // namespace lockstep::launcher
