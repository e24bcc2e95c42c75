// How much the logs, outputs, checkpoints and sources of a user's jobs may take on the launcher,
// and how many ended jobs of theirs are kept.

#include "common/domain/why/jobs/orders.h"
#include "launcher/core/queue/quotas.h"

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const QuotaHolder kAlicesFiles{QuotaHolder::Kind::user, "alice"};
const QuotaHolder kFilesOfProject{QuotaHolder::Kind::project, "default"};

class JobFiles : public testing::Test {
 protected:
  explicit JobFiles(CoreConfig config = {}) : launcher(std::move(config)) {
    for (const char* name : {"root", "alice", "bob"}) {
      launcher.send(
          PrincipalInput{{}, AddUser{name, "user", {}, {Role::admin, ""}}, LauncherItself{}});
      launcher.take<ReplyDone>();
    }
    n1 = launcher.join("n1", inventory(16));
  }
  void limit(const QuotaHolder& holder, QuotaLimit what, std::uint64_t value) {
    launcher.send(PrincipalInput{launcher.next_reply(), SetQuota{holder, {{what, value}}, {}},
                                 UserCaller{"root"}});
    launcher.expect_one<ReplyDone>();
    launcher.drop_notices();
  }
  static JobSpec small(const std::string& name) {
    JobSpec spec = job_spec(name);
    spec.resources.cpus = 1;
    spec.resources.memory = mebibytes(1);
    return spec;
  }
  // Why it is refused; "": it is accepted.
  std::string submit(const std::string& name, const std::string& user,
                     std::vector<JobSource> sources = {}) {
    SubmitInput input{launcher.next_reply(), "s-" + name, small(name), "", false, UserCaller{user}};
    input.sources = std::move(sources);
    launcher.send(std::move(input));
    launcher.drop_notices();
    const auto refused = launcher.take<ReplyRefused>();
    if (!refused.empty()) return refused[0].message;
    launcher.expect_one<ReplySubmitted>();
    return "";
  }
  static CollectedOutput output(const std::string& what, std::uint64_t bytes,
                                OutputKind kind = OutputKind::outputs) {
    CollectedOutput made{kind, "", sha256(what), 1, Bytes{bytes}, {}};
    made.order = kind == OutputKind::checkpoint ? 1 : 0;
    return made;
  }
  void ends(const std::string& name, std::uint64_t logs, std::vector<CollectedOutput> outputs) {
    PartReport end = report(attempt(JobId(name)), PartState::finished);
    end.exit = node_exit({rank_exit(0)});
    if (logs > 0) end.exit->logs = {{0, logs, 0}};
    end.outputs = std::move(outputs);
    launcher.observe(n1, end);
    launcher.take<AwaitLogs>();
    launcher.drop_notices();
    if (logs > 0) launcher.send(LogsDurableInput{attempt(JobId(name)), n1.id});
    launcher.drop_notices();
    EXPECT_EQ(launcher.status(JobId(name)), JobStatus::completed) << name;
  }
  void remove(const std::string& name) {
    launcher.send(DeleteInput{launcher.next_reply(), {JobId(name)}, false, {}, UserCaller{"root"}});
    EXPECT_EQ(launcher.expect_one<ReplyDeleted>().result.jobs.size(), 1U);
    launcher.take<ForgetJob>();
    launcher.drop_notices();
  }
  std::uint64_t used(const QuotaHolder& holder, QuotaLimit limit = QuotaLimit::job_files) const {
    for (const QuotaView::Line& line : launcher.core->quota_view(holder).lines)
      if (line.limit == limit) return line.used;
    return 0;
  }

  TestLauncher launcher;
  FakeNode n1;
};

TEST_F(JobFiles, WhoIsAtTheLimitSubmitsNothingMoreUntilThereIsRoom) {
  limit(kAlicesFiles, QuotaLimit::job_files, 1'000);
  ASSERT_EQ(submit("a", "alice"), "");
  ends("a", 500, {output("a", 400)});
  EXPECT_EQ(used(kAlicesFiles), 900U);
  ASSERT_EQ(submit("b", "alice"), "") << "there is room for something";
  ends("b", 0, {output("b", 200)});
  EXPECT_THAT(submit("c", "alice"),
              AllOf(HasSubstr("quota: the logs, outputs, checkpoints and sources of the jobs of "
                              "user 'alice' take 1.1 KiB, and 1000 B are allowed"),
                    HasSubstr("`lockstep job delete NAME`"),
                    HasSubstr("`lockstep quota set --user alice --job-files SIZE`")));
  EXPECT_EQ(submit("bobs", "bob"), "") << "the limit is alice's alone";
  launcher.restart();
  launcher.drop_notices();
  EXPECT_EQ(used(kAlicesFiles), 1'100U);
  remove("a");
  EXPECT_EQ(used(kAlicesFiles), 200U);
  EXPECT_EQ(submit("c", "alice"), "");
}

TEST_F(JobFiles, AProjectsLimitCountsAllItsUsers) {
  limit(kFilesOfProject, QuotaLimit::job_files, 100);
  ASSERT_EQ(submit("a", "alice"), "");
  ends("a", 0, {output("a", 100)});
  EXPECT_THAT(submit("b", "bob"), HasSubstr("project 'default' take 100 B, and 100 B are allowed"));
}

TEST_F(JobFiles, CheckpointsAndWhatRunningJobsHaveSoFarCountOnce) {
  ASSERT_EQ(submit("a", "alice"), "");
  launcher.observe(n1, attempt(JobId("a")), PartState::running);
  PartReport running = report(attempt(JobId("a")), PartState::running);
  running.outputs = {output("x", 30), output("saved", 7, OutputKind::checkpoint)};
  launcher.observe(n1, running);
  launcher.drop_notices();
  EXPECT_EQ(used(kAlicesFiles), 37U);
  ends("a", 0, {output("y", 50), output("saved", 7, OutputKind::checkpoint)});
  EXPECT_EQ(used(kAlicesFiles), 57U) << "the final versions replace those of before";
  remove("a");
  EXPECT_EQ(used(kAlicesFiles), 0U);
}

TEST_F(JobFiles, ASourceCountsOnceForAllJobsThatAreRunFromIt) {
  limit(kAlicesFiles, QuotaLimit::job_files, 1'000);
  const std::vector<JobSource> source{{sha256("source"), Bytes{600}}};
  ASSERT_EQ(submit("a", "alice", source), "");
  ASSERT_EQ(submit("b", "alice", source), "");
  EXPECT_EQ(used(kAlicesFiles), 600U);
  EXPECT_THAT(submit("c", "alice", {{sha256("another"), Bytes{500}}}),
              HasSubstr("take 600 B, the files of this job would add 500 B, and 1000 B are"));
  ASSERT_EQ(submit("bobs", "bob", source), "");
  EXPECT_EQ(used(kFilesOfProject), 600U);
  launcher.cancel(JobId("a"));
  launcher.drop_notices();
  launcher.restart();
  launcher.drop_notices();
  EXPECT_EQ(used(kAlicesFiles), 600U);
}

TEST_F(JobFiles, LogsOfRunningJobsCountAndAreHeldBackAtTheLimit) {
  limit(kAlicesFiles, QuotaLimit::job_files, 1'000);
  ASSERT_EQ(submit("a", "alice"), "");
  launcher.observe(n1, attempt(JobId("a")), PartState::running);
  launcher.send(LogsGrewInput{attempt(JobId("a")), n1.id, 999});
  EXPECT_THAT(launcher.core->why_no_more_files(JobId("a")), IsEmpty());
  EXPECT_EQ(launcher.core->room_for_files(JobId("a")), 1U);
  EXPECT_THAT(launcher.core->why_no_more_files(JobId("a"), 2), HasSubstr("take 999 B of 1000 B"));
  launcher.send(LogsGrewInput{attempt(JobId("a")), n1.id, 1'000});
  EXPECT_EQ(used(kAlicesFiles), 1'000U);
  EXPECT_THAT(launcher.core->why_no_more_files(JobId("a")),
              AllOf(HasSubstr("the files of the jobs of user 'alice' take 1000 B of 1000 B"),
                    HasSubstr("what does not fit waits on its node until there is room")));
  EXPECT_THAT(submit("b", "alice"), HasSubstr("are allowed"));
  ASSERT_EQ(submit("bobs", "bob"), "");
  EXPECT_THAT(launcher.core->why_no_more_files(JobId("bobs")), IsEmpty());
  EXPECT_EQ(launcher.core->room_for_files(JobId("a")), 0U);
  EXPECT_EQ(launcher.core->room_for_files(JobId("bobs")), std::nullopt);
  EXPECT_EQ(launcher.core->whose_files(), "alice 1000 B");
  limit(kAlicesFiles, QuotaLimit::job_files, 5'000);
  EXPECT_THAT(launcher.core->why_no_more_files(JobId("a")), IsEmpty());
  ends("a", 1'200, {});
  launcher.send(LogsGrewInput{attempt(JobId("a")), n1.id, 1'200});  // told late
  EXPECT_EQ(used(kAlicesFiles), 1'200U) << "the report's, once";
}

TEST_F(JobFiles, SizesThatANodeMakesUpOverflowNothing) {
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_EQ(submit(name, "bob"), "");
    ends(name, 0, {output(name, UINT64_MAX / 2)});
  }
  for (const char* name : {"a", "b", "c"}) remove(name);
  EXPECT_EQ(used({QuotaHolder::Kind::user, "bob"}), 0U);
}

TEST_F(JobFiles, SoManyEndedJobsOfAUserAreKept) {
  limit(kAlicesFiles, QuotaLimit::kept_jobs, 2);
  for (const char* name : {"a1", "a2", "a3"}) {
    ASSERT_EQ(submit(name, "alice"), "");
    ends(name, 0, {output(name, 1)});
  }
  ASSERT_EQ(submit("b1", "bob"), "");
  ends("b1", 0, {});
  EXPECT_EQ(used(kAlicesFiles, QuotaLimit::kept_jobs), 3U);
  std::vector<ForgetJob> gone;
  for (int second = 0; second < 90; second += 10) {
    launcher.now = launcher.now + seconds(10);
    launcher.send(HeartbeatInput{n1.key, {n1.id, n1.session, 0, 0}});
    launcher.take<AckHeartbeat>();
    launcher.take<AskForSession>();
    for (const ForgetJob& one : launcher.take<ForgetJob>()) gone.push_back(one);
    launcher.drop_notices();
  }
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].job, JobId("a1"));
  EXPECT_EQ(gone[0].why, Why(QuotaOfKept{"alice", 3, 2}));
  EXPECT_EQ(used(kAlicesFiles, QuotaLimit::kept_jobs), 2U);
  launcher.send(PrincipalInput{launcher.next_reply(),
                               SetQuota{kFilesOfProject, {{QuotaLimit::kept_jobs, 2}}, {}},
                               UserCaller{"root"}});
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message, HasSubstr("a limit of users alone"));
}

struct JobFilesByDefault : JobFiles {
  JobFilesByDefault() : JobFiles(settings()) {}
  static CoreConfig settings() {
    CoreConfig config;
    config.job_files_per_user = Bytes{100};
    return config;
  }
};

TEST_F(JobFilesByDefault, EachUserHasTheLimitOfTheDisk) {
  ASSERT_EQ(submit("a", "alice"), "");
  ends("a", 0, {output("a", 100)});
  EXPECT_THAT(submit("b", "alice"), HasSubstr("take 100 B, and 100 B are allowed"));
  EXPECT_EQ(submit("c", "bob"), "");
  limit(kAlicesFiles, QuotaLimit::job_files, 200);
  EXPECT_EQ(submit("b", "alice"), "");
}

TEST(JobFilesOfOne, WhoHasALauncherAloneHasNoLimitByDefault) {
  CoreConfig config = JobFilesByDefault::settings();
  TestLauncher launcher(config);
  const auto add = [&](const std::string& name) {
    launcher.send(
        PrincipalInput{{}, AddUser{name, "user", {}, {Role::admin, ""}}, LauncherItself{}});
    launcher.take<ReplyDone>();
    launcher.drop_notices();
  };
  const auto most = [&] {
    for (const QuotaView::Line& line : launcher.core->quota_view(kAlicesFiles).lines)
      if (line.limit == QuotaLimit::job_files) return line.most;
    return std::optional<std::uint64_t>();
  };
  add("alice");
  EXPECT_EQ(most(), std::nullopt);
  add("bob");
  EXPECT_EQ(most(), 100U);
}

}  // namespace
}  // namespace lockstep::launcher
