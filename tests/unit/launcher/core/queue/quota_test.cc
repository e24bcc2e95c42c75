// Quotas of users and projects: what is refused, what waits and says why, and whom that blocks.

#include "common/domain/why/jobs/waits.h"
#include "launcher/core/queue/quotas.h"

#include "launcher/core/access/user_changes.h"
#include "launcher/core/queue/quota_queue.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

const QuotaHolder kAlice{QuotaHolder::Kind::user, "alice"};
const QuotaHolder kDefault{QuotaHolder::Kind::project, "default"};

class Quotas : public testing::Test {
 protected:
  void set(const QuotaHolder& holder, QuotaLimit limit, std::optional<std::uint64_t> value) {
    SetQuota ask{holder, {}, {}};
    if (value)
      ask.set[limit] = *value;
    else
      ask.unset = {limit};
    launcher.send(PrincipalInput{launcher.next_reply(), ask, UserCaller{"root"}});
    launcher.expect_one<ReplyDone>();
    launcher.drop_notices();
  }
  Result<JobId> try_submit(JobSpec spec, const std::string& user, Bytes snapshot = {}) {
    const std::string name = spec.name;
    launcher.send(SubmitInput{launcher.next_reply(), "s-" + name, std::move(spec), "", false,
                              UserCaller{user}, snapshot});
    launcher.drop_notices();
    const auto refused = launcher.take<ReplyRefused>();
    if (!refused.empty()) return make_error(refused[0].code, refused[0].message);
    launcher.expect_one<ReplySubmitted>();
    return JobId(name);
  }
  JobId submit(JobSpec spec, const std::string& user) {
    const auto job = try_submit(std::move(spec), user);
    EXPECT_TRUE(job) << (job ? "" : job.error().message);
    return job.value();
  }
  static JobSpec small(const std::string& name, int gpus = 0, int nodes = 1) {
    JobSpec spec = job_spec(name, nodes);
    spec.resources.cpus = 1;
    spec.resources.memory = mebibytes(1);
    spec.resources.gpus = gpus;
    return spec;
  }
  static JobSpec with_variables(const std::string& name, std::size_t bytes) {
    JobSpec spec = small(name);
    for (std::size_t part = 0; part < 16; ++part)
      spec.environment_variables["V" + std::to_string(10 + part)] =
          std::string(bytes / 16 - 5, 'x');
    return spec;
  }
  void SetUp() override {
    for (const char* name : {"root", "alice", "bob"}) {
      launcher.send(
          PrincipalInput{{}, AddUser{name, "user", {}, {Role::admin, ""}}, LauncherItself{}});
      launcher.take<ReplyDone>();
    }
  }
  void run(FakeNode& node, const JobId& job) {
    launcher.run_solo(node, attempt(job), node_exit({rank_exit(0)}));
  }

  TestLauncher launcher;
};

TEST_F(Quotas, AJobOverItsUsersQuotaWaitsSaysWhyAndBlocksNobody) {
  FakeNode n1 = launcher.join("n1", inventory(16, gibibytes(8), 8));
  set(kAlice, QuotaLimit::gpus, 4);
  const JobId first = submit(small("first", 3), "alice");
  const JobId second = submit(small("second", 2), "alice");
  const JobId other = submit(small("other", 4), "bob");
  EXPECT_EQ(launcher.status(first), JobStatus::preparing);
  EXPECT_EQ(launcher.status(second), JobStatus::queued);
  const Why over = WaitsForQuota{QuotaHolder::Kind::user, "alice", QuotaLimit::gpus, 3, 4, 2};
  EXPECT_EQ(launcher.why(second), over);
  EXPECT_EQ(launcher.status(other), JobStatus::preparing) << "it waits for nobody's quota";
  EXPECT_EQ(launcher.explain(second).reasons.at(0).why, over);
  const JobId fits = submit(small("fits", 1), "alice");
  EXPECT_EQ(launcher.status(fits), JobStatus::preparing) << "a quota is no queue";
  run(n1, first);
  EXPECT_EQ(launcher.status(second), JobStatus::preparing);
}

TEST_F(Quotas, ThoseThatAskForTheSameGetTheirTurnsInOrder) {
  FakeNode n1 = launcher.join("n1", inventory(16));
  set(kAlice, QuotaLimit::running_jobs, 1);
  std::vector<JobId> jobs;
  for (const char* name : {"e", "d", "c", "b", "a"}) jobs.push_back(submit(small(name), "alice"));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(launcher.status(jobs[i]), JobStatus::preparing) << i;
    for (std::size_t k = i + 1; k < jobs.size(); ++k)
      EXPECT_EQ(launcher.why(jobs[k]), (WaitsForQuota{QuotaHolder::Kind::user, "alice",
                                                      QuotaLimit::running_jobs, 1, 1, 1}));
    run(n1, jobs[i]);
  }
}

TEST_F(Quotas, AProjectsQuotaCountsAllItsUsers) {
  FakeNode n1 = launcher.join("n1", inventory(16));
  FakeNode n2 = launcher.join("n2", inventory(16));
  set(kDefault, QuotaLimit::nodes, 2);
  const JobId a = submit(small("a"), "alice");
  const JobId b = submit(small("b"), "bob");
  const JobId c = submit(small("c"), "bob");
  EXPECT_EQ(launcher.status(b), JobStatus::preparing);
  EXPECT_EQ(launcher.why(c),
            (WaitsForQuota{QuotaHolder::Kind::project, "default", QuotaLimit::nodes, 2, 2, 1}));
  run(n1, a);
  EXPECT_EQ(launcher.status(c), JobStatus::preparing);
}

TEST_F(Quotas, WholeNodesCountWithAllThatTheyHave) {
  FakeNode n1 = launcher.join("n1", inventory(16));
  FakeNode n2 = launcher.join("n2", inventory(4));
  set(kAlice, QuotaLimit::cpus, 8);
  const JobId whole = submit(job_spec("whole"), "alice");
  EXPECT_EQ(launcher.why(whole),
            (WaitsForQuota{QuotaHolder::Kind::user, "alice", QuotaLimit::cpus, 0, 8, 16}));
  const JobId other = submit(job_spec("other"), "bob");
  EXPECT_EQ(launcher.status(other), JobStatus::preparing);
  FakeNode n3 = launcher.join("n3", inventory(4));
  EXPECT_EQ(launcher.status(whole), JobStatus::preparing) << "n1 is held, n2 has 4";
}

TEST_F(Quotas, ChangingAQuotaIsFeltAtOnceAndEndsNothing) {
  FakeNode n1 = launcher.join("n1", inventory(16));
  const JobId a = submit(small("a"), "alice");
  const JobId b = submit(small("b"), "alice");
  set(kAlice, QuotaLimit::running_jobs, 1);
  const JobId c = submit(small("c"), "alice");
  EXPECT_EQ(launcher.status(a), JobStatus::preparing);
  EXPECT_EQ(launcher.status(b), JobStatus::preparing);
  EXPECT_EQ(launcher.why(c),
            (WaitsForQuota{QuotaHolder::Kind::user, "alice", QuotaLimit::running_jobs, 2, 1, 1}));
  set(kAlice, QuotaLimit::running_jobs, std::nullopt);
  EXPECT_EQ(launcher.status(c), JobStatus::preparing);
}

TEST_F(Quotas, AWaitingJobThatItsQuotaNowForbidsBlocksNobodyAnyMore) {
  FakeNode n1 = launcher.join("n1", inventory(4));
  const JobId first = submit(small("first"), "bob");
  JobSpec wide = small("wide");
  wide.resources.cpus = 4;
  const JobId head = submit(wide, "alice");
  const JobId behind = submit(small("behind"), "bob");
  EXPECT_EQ(launcher.status(behind), JobStatus::queued);
  set(kAlice, QuotaLimit::cpus, 2);
  EXPECT_EQ(launcher.why(head),
            (WaitsForQuota{QuotaHolder::Kind::user, "alice", QuotaLimit::cpus, 0, 2, 4}));
  EXPECT_EQ(launcher.status(behind), JobStatus::preparing);
}

TEST_F(Quotas, WhatCouldNeverStartIsRefusedWithTheQuotaAndWhoMayChangeIt) {
  FakeNode n1 = launcher.join("n1", inventory(16, gibibytes(8), 8));
  set(kAlice, QuotaLimit::gpus, 4);
  const auto refused = try_submit(small("big", 5), "alice");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(refused.error().message,
            "quota: this job needs 5 gpus, but user 'alice' may use at most 4 at once, so the job "
            "would never start; ask for less; an admin may raise it with `lockstep quota set "
            "--user alice --gpus N`");
  EXPECT_TRUE(try_submit(small("fits", 4), "alice"));
  EXPECT_TRUE(try_submit(small("big", 5), "bob"));
}

TEST_F(Quotas, AWholeNodeThatCouldNeverBeHeldIsRefusedWithBothNumbers) {
  FakeNode n1 = launcher.join("n1", inventory(2, gibibytes(8), 4));
  FakeNode n2 = launcher.join("n2", inventory(16, gibibytes(8), 8));
  set(kAlice, QuotaLimit::cpus, 1);
  const auto refused = try_submit(job_spec("whole"), "alice");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(refused.error().message,
            "quota: this job needs 2 cpus, because it takes all cpus of its nodes (every node of "
            "target 'local' that it may get has as many or more), but user 'alice' may use at most "
            "1 at once, so the job would never start; ask for less (--cpus N, or "
            "lockstep.resources in a job file); an admin may raise it with `lockstep quota set "
            "--user alice --cpus N`");
  EXPECT_TRUE(try_submit(small("small"), "alice"));
  set(kAlice, QuotaLimit::cpus, 8);
  EXPECT_TRUE(try_submit(job_spec("on-n1"), "alice"));
  JobSpec named = job_spec("on-n2");
  named.resources.nodes = {"n2"};
  EXPECT_THAT(try_submit(named, "alice").error().message, HasSubstr("needs 16 cpus"));
  JobSpec gpus = job_spec("all-gpus");
  gpus.resources.cpus = 1;
  set(kAlice, QuotaLimit::gpus, 3);
  EXPECT_THAT(try_submit(gpus, "alice").error().message, HasSubstr("needs 4 gpus"));
  EXPECT_THAT(try_submit(job_spec("two", 5), "alice").error().message, HasSubstr("needs 10 cpus"));
}

TEST_F(Quotas, AnIsolatedJobHoldsItsWholeNode) {
  FakeNode n1 = launcher.join("n1", inventory(4));
  set(kAlice, QuotaLimit::cpus, 2);
  JobSpec isolated = small("isolated");
  isolated.resources.isolated = true;
  EXPECT_THAT(try_submit(isolated, "alice").error().message, HasSubstr("needs 4 cpus"));
}

TEST_F(Quotas, AStepOfAPipelineIsRefusedWithItsName) {
  FakeNode n1 = launcher.join("n1", inventory(2));
  set(kAlice, QuotaLimit::cpus, 1);
  JobSpec spec;
  spec.name = "line";
  PipelineStep step;
  step.name = "train";
  step.spec = job_spec("");
  PipelineSpec tasks;
  tasks.steps.push_back(step);
  spec.pipeline = tasks;
  const auto refused = try_submit(spec, "alice");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("needs 2 cpus"));
  EXPECT_THAT(refused.error().message, HasSubstr("train"));
}

TEST_F(Quotas, WhatNobodyKnowsYetWaits) {
  set(kAlice, QuotaLimit::cpus, 1);
  EXPECT_TRUE(try_submit(job_spec("whole"), "alice")) << "no node is there";
}

TEST_F(Quotas, MoreThanMayBeQueuedIsRefused) {
  set(kAlice, QuotaLimit::queued_jobs, 2);
  submit(small("a"), "alice");
  submit(small("b"), "alice");
  const auto refused = try_submit(small("c"), "alice");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("user 'alice' has 2 queued jobs, and 2 are"));
  EXPECT_THAT(refused.error().message, HasSubstr("`lockstep quota set --user alice --queued-jobs"));
  submit(small("c"), "bob");
  launcher.cancel(JobId("a"));
  EXPECT_TRUE(try_submit(small("c2"), "alice"));
}

TEST_F(Quotas, SourcesThatAreTooLargeAreRefused) {
  set(kDefault, QuotaLimit::snapshot_bytes, 1'000);
  EXPECT_TRUE(try_submit(small("a"), "alice", Bytes{1'000}));
  const auto refused = try_submit(small("b"), "alice", Bytes{1'001});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("project 'default' may submit at most 1000 B"));
}

TEST_F(Quotas, TextsAndVariablesOfJobsThatAreKeptHaveABoundByDefault) {
  const std::uint64_t most = launcher.config.spec_bytes_per_user.count;
  const std::size_t each = 1 << 20;
  std::uint64_t taken = 0;
  while (try_submit(with_variables("j" + std::to_string(taken), each), "alice")) ++taken;
  EXPECT_EQ(taken, most / each);
  const auto refused = try_submit(with_variables("more", each), "alice");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("job delete --all-final"));
  EXPECT_TRUE(try_submit(small("plain"), "alice")) << "ordinary jobs do not count";
  EXPECT_TRUE(try_submit(with_variables("bobs", each), "bob"));
  set(kAlice, QuotaLimit::spec_bytes, 2 * most);
  EXPECT_TRUE(try_submit(with_variables("more", each), "alice"));
}

TEST_F(Quotas, OnlyAdminsChangeThem) {
  launcher.send(PrincipalInput{
      {}, AddUser{"eve", "user", {}, {Role::submitter, "default"}}, LauncherItself{}});
  launcher.take<ReplyDone>();
  launcher.send(
      PrincipalInput{launcher.next_reply(),
                     SetQuota{{QuotaHolder::Kind::user, "eve"}, {{QuotaLimit::gpus, 100}}, {}},
                     UserCaller{"eve"}});
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().code, ErrorCode::permission_denied);
}

TEST_F(Quotas, TheyAndWhatIsTakenOutliveARestart) {
  FakeNode n1 = launcher.join("n1", inventory(16));
  set(kAlice, QuotaLimit::running_jobs, 1);
  const JobId a = submit(small("a"), "alice");
  const JobId b = submit(small("b"), "alice");
  const QuotaView before = launcher.core->quota_view(kAlice);
  launcher.restart();
  launcher.drop_notices();
  EXPECT_EQ(launcher.core->quota_view(kAlice), before);
  EXPECT_EQ(before.lines[1].used, 1U);
  EXPECT_EQ(before.lines[1].most, 1U);
  EXPECT_EQ(launcher.status(b), JobStatus::queued);
}

TEST_F(Quotas, AskingAgainChangesNothingAndWhatIsWrongIsSaid) {
  Principals now;
  now.apply({}, UserAdded{"ann", "ann", "root"});
  const SetQuota ask{{QuotaHolder::Kind::user, "ann"}, {{QuotaLimit::gpus, 8}}, {}};
  const auto change = change_of(now, ask, "root");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->message, "quota of user 'ann': gpus 8");
  ASSERT_EQ(change->facts.size(), 1U);
  now.apply({}, std::get<QuotaSet>(change->facts[0]));
  EXPECT_TRUE(change_of(now, ask, "root")->facts.empty());
  const auto refused = [&](const SetQuota& wrong) {
    const auto result = change_of(now, wrong, "root");
    return result ? std::string("taken") : result.error().message;
  };
  EXPECT_THAT(refused({{QuotaHolder::Kind::user, "bob"}, {{QuotaLimit::gpus, 8}}, {}}),
              HasSubstr("there is no user 'bob'"));
  EXPECT_THAT(refused({{QuotaHolder::Kind::project, "x"}, {{QuotaLimit::gpus, 8}}, {}}),
              HasSubstr("there is no project 'x'"));
  EXPECT_THAT(refused({ask.holder, {}, {}}), HasSubstr("at least one limit"));
  EXPECT_THAT(refused({ask.holder, {{QuotaLimit::gpus, UINT64_MAX}}, {}}), HasSubstr("more than"));
  now.apply({}, UserRemoved{"ann", "root"});
  EXPECT_TRUE(now.quotas().empty());
}

// Ten thousand wait for a quota: what is freed looks at one of them.
TEST_F(Quotas, WhatIsFreedCostsWhatItMoves) {
  set(kAlice, QuotaLimit::running_jobs, 0);
  QuotaQueue queue;
  State state;
  state.apply({}, QuotaSet{kAlice, QuotaLimit::running_jobs, 1, "root"});
  for (int i = 0; i < 10'000; ++i) {
    JobSpec spec = small("j" + std::to_string(i));
    state.apply({}, JobSubmitted{JobId(spec.name), "", spec});
    queue.hold(*state.job(JobId(spec.name)), std::nullopt);
  }
  EXPECT_EQ(queue.take_fitting(state).size(), 1U) << "the first of the line, and no other";
}

}  // namespace
}  // namespace lockstep::launcher
