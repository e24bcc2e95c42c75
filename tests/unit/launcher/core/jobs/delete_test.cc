// Jobs that are deleted, by people and by the limits of what is kept, and what is remembered of
// them.

#include "common/domain/why/jobs/orders.h"
#include "launcher/state/roots.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Delete : public ::testing::Test {
 protected:
  void begin(Retention keeps = {}) {
    CoreConfig config;
    config.keeps = keeps;
    launcher.emplace(config);
    n1 = launcher->join("n1");
  }
  static JobSpec job_by(const std::string& user, const std::string& name) {
    JobSpec spec = job_spec(name);
    spec.submitter = user;
    return spec;
  }
  JobId run(const std::string& name, const std::string& user = "ann") {
    const JobId job = launcher->submit(job_by(user, name));
    launcher->finished(n1, launcher->core->state().job(job)->attempts.back().id,
                       node_exit({rank_exit(0)}));
    EXPECT_EQ(launcher->status(job), JobStatus::completed);
    return job;
  }
  // As run(), with so many bytes of logs and of outputs.
  void run_and_leave(const JobSpec& spec, std::uint64_t logs, std::uint64_t outputs) {
    const JobId job = launcher->submit(spec);
    PartReport end;
    end.attempt = attempt(job);
    end.state = PartState::finished;
    end.exit = node_exit({rank_exit(0)});
    if (logs > 0) {
      end.exit->logs = {{0, logs - 15, 5}};
      end.exit->log_times = Bytes{10};
    }
    end.outputs = {{OutputKind::outputs, "", sha256(spec.name), 1, Bytes{outputs}, {}}};
    launcher->observe(n1, end);
    launcher->take<AwaitLogs>();
    note_what_is_gone();
    if (logs > 0) launcher->send(LogsDurableInput{attempt(job), n1.id});
    note_what_is_gone();
    EXPECT_EQ(launcher->status(job), JobStatus::completed) << job.value;
  }
  JobsDeleted remove(std::vector<JobId> jobs, bool all = false, Duration older = Duration(0)) {
    launcher->send(
        DeleteInput{launcher->next_reply(), std::move(jobs), all, older, UserCaller{"ann"}});
    JobsDeleted result = launcher->expect_one<ReplyDeleted>().result;
    forgotten = launcher->take<ForgetJob>();
    launcher->drop_notices();
    return result;
  }
  // A job that ran to its end and was deleted.
  SubmitInput live_and_die(const std::string& submission) {
    SubmitInput submit{launcher->next_reply(), submission, job_spec("train"), ""};
    launcher->send(submit);
    launcher->expect_one<ReplySubmitted>();
    launcher->drop_notices();
    launcher->finished(n1, launcher->core->state().job(JobId("train"))->attempts.back().id,
                       node_exit({rank_exit(0)}));
    remove({JobId("train")});
    return submit;
  }
  // It was sent again, since its answer was lost.
  void expect_deleted(const SubmitInput& submit) {
    launcher->send(submit);
    const ReplyRefused refused = launcher->expect_one<ReplyRefused>();
    EXPECT_EQ(refused.code, ErrorCode::conflict);
    EXPECT_THAT(refused.message, HasSubstr("deleted"));
  }
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& [id, job] : launcher->core->state().jobs()) names.push_back(id.value);
    return names;
  }
  // Lets time pass; what is deleted meanwhile is forgotten.
  void pass(Duration time) {
    for (; time > Duration(0); time -= seconds(10)) {
      launcher->now = launcher->now + seconds(10);
      launcher->send(HeartbeatInput{n1.key, {n1.id, n1.session, 0, 0}});
      launcher->take<AckHeartbeat>();
      launcher->take<AskForSession>();
      note_what_is_gone();
    }
  }
  void note_what_is_gone() {
    for (const ForgetJob& one : launcher->take<ForgetJob>()) {
      why.push_back(one.why);
      gone.push_back(one);
    }
    launcher->drop_notices();
  }

  std::optional<TestLauncher> launcher;
  FakeNode n1;
  std::vector<ForgetJob> forgotten;
  std::vector<ForgetJob> gone;  // what was deleted while time passed,
  std::vector<Why> why;         // and why
};

TEST_F(Delete, AFinalJobIsGoneAndItsLogsAreToBeForgotten) {
  begin();
  const JobId job = run("train");
  const JobsDeleted result = remove({job});
  EXPECT_THAT(result.jobs, ElementsAre(job));
  EXPECT_THAT(result.kept, IsEmpty());
  EXPECT_THAT(left(), IsEmpty());
  ASSERT_EQ(forgotten.size(), 1U);
  EXPECT_THAT(forgotten[0].attempts, ElementsAre(attempt(job)));
  EXPECT_EQ(launcher->facts<JobDeleted>().at(0).by, "ann");
  EXPECT_EQ(forgotten[0].why, Why(DeletedBy{"ann"}));
}

TEST_F(Delete, AJobThatHasNotEndedIsKeptAndSaysSo) {
  begin();
  const JobId job = launcher->submit(job_spec("train"));
  const JobsDeleted result = remove({job, JobId("nobody")});
  EXPECT_THAT(result.jobs, IsEmpty());
  ASSERT_EQ(result.kept.size(), 2U);
  EXPECT_EQ(result.kept[0].code, ErrorCode::conflict);
  EXPECT_THAT(result.kept[0].message, HasSubstr("job cancel train"));
  EXPECT_EQ(result.kept[1].code, ErrorCode::not_found);
  EXPECT_THAT(left(), ElementsAre("train"));
}

TEST_F(Delete, AJobWhoseLogsAreOutstandingIsKept) {
  begin();
  const JobId job = launcher->submit(job_spec("train"));
  NodeExitReport exit = node_exit({rank_exit(0)});
  exit.logs = {{0, 5, 0}};
  launcher->finished(n1, attempt(job), exit);
  launcher->expect_one<AwaitLogs>();
  EXPECT_EQ(remove({job}).kept.size(), 1U);
  launcher->send(LogsDurableInput{attempt(job), n1.id});
  launcher->drop_notices();
  EXPECT_EQ(remove({job}).jobs.size(), 1U);
}

TEST_F(Delete, AskedAgainItIsDeletedStill) {
  begin();
  const JobId job = run("train");
  remove({job});
  EXPECT_THAT(remove({job}).jobs, ElementsAre(job));
  launcher->restart();
  EXPECT_THAT(remove({job}).jobs, ElementsAre(job));
  EXPECT_EQ(launcher->facts<JobDeleted>().size(), 1U);
}

TEST_F(Delete, AllUsersAreMeantByAnAdminWhoSaysSoAlone) {
  begin();
  run("ann1");
  const auto everybodys = [this](const std::string& by, bool all) {
    launcher->send(DeleteInput{launcher->next_reply(), {}, true, {}, UserCaller{by}, all});
    forgotten = launcher->take<ForgetJob>();
    launcher->drop_notices();
  };
  run("bob1", "bob");
  launcher->send(
      PrincipalInput{{},
                     AddUser{"sue", "sue", {}, {Role::submitter, std::string(kDefaultProject)}},
                     LauncherItself{}});
  launcher->take<ReplyDone>();
  launcher->drop_notices();
  everybodys("sue", true);
  EXPECT_THAT(launcher->expect_one<ReplyRefused>().message,
              HasSubstr("may not delete the jobs of all users: that needs the role admin"));
  everybodys("ann", false);
  launcher->expect_one<ReplyDeleted>();
  EXPECT_THAT(left(), ElementsAre("bob1"));
  everybodys("ann", true);
  const JobsDeleted result = launcher->expect_one<ReplyDeleted>().result;
  EXPECT_THAT(result.jobs, ElementsAre(JobId("bob1")));
  EXPECT_THAT(result.projects, ElementsAre(std::string(kDefaultProject)));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(Delete, AllThatEndedLongEnoughAgo) {
  begin();
  run("old");
  pass(minutes(10));
  run("young");
  launcher->submit(job_spec("runs"));
  EXPECT_THAT(remove({}, true, minutes(5)).jobs, ElementsAre(JobId("old")));
  EXPECT_THAT(left(), ElementsAre("runs", "young"));
  EXPECT_THAT(remove({}, true).jobs, ElementsAre(JobId("young")));
}

TEST_F(Delete, ManyAreDeletedAThousandAtATime) {
  begin({Duration(0), 0, {}, {}});
  const JobId runs = launcher->submit(job_spec("runs"));
  for (int i = 0; i < 1'005; ++i)
    launcher->cancel(launcher->submit(job_by("ann", "job-" + std::to_string(10'000 + i))));
  const JobsDeleted first = remove({}, true);
  EXPECT_EQ(first.jobs.size(), kMaxDeletionsAtOnce);
  EXPECT_EQ(first.more, 5);
  EXPECT_EQ(remove({}, true).jobs.size(), 5U);
  EXPECT_THAT(left(), ElementsAre(runs.value));
}

TEST_F(Delete, AllThatEndedAreOnesOwn) {
  begin();
  run("anns");
  run("bobs", "bob");
  EXPECT_THAT(remove({}, true).jobs, ElementsAre(JobId("anns")));
  EXPECT_THAT(left(), ElementsAre("bobs"));
  EXPECT_THAT(remove({JobId("bobs")}).jobs, ElementsAre(JobId("bobs"))) << "an admin names it";
}

// ---- a name that is used again -----------------------------------------------------------------

TEST_F(Delete, ItsNameIsFreeAndTheNewJobsAttemptsAreOthers) {
  begin();
  const JobId job = run("train");
  remove({job});
  const JobId again = launcher->submit(job_spec("train"));
  const AttemptId second = launcher->core->state().job(again)->attempts.back().id;
  EXPECT_EQ(second.number, 1U);
  EXPECT_NE(second.incarnation, 0U);
  // A late word of the first job's attempt is not the second's.
  launcher->finished(n1, attempt(job), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher->status(again), JobStatus::preparing);
  launcher->finished(n1, second, node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher->status(again), JobStatus::completed);
  remove({again});
  launcher->submit(job_spec("train"));
  EXPECT_GT(launcher->core->state().job(again)->attempts.back().id.incarnation, second.incarnation);
}

TEST_F(Delete, ItsSubmissionIsNotTakenForANewOne) {
  begin();
  const SubmitInput submit = live_and_die("key");
  expect_deleted(submit);
}

TEST_F(Delete, NorIsOneWhoseNameHadSeveralJobs) {
  begin();
  const SubmitInput first = live_and_die("first"), second = live_and_die("second");
  expect_deleted(first);
  expect_deleted(second);
  launcher->restart();
  expect_deleted(first);
}

TEST_F(Delete, ANameForgottenLongAgoIsSafeToo) {
  State state;
  const Instant then{1'000};
  for (std::size_t i = 0; i <= kMaxDeletedJobs; ++i)
    state.apply(then, JobDeleted{JobId("job-" + std::to_string(i)), "", "", 7 + i});
  EXPECT_EQ(state.deleted().last().size(), kMaxDeletedJobs);
  EXPECT_EQ(state.deleted().last().count(JobId("job-0")), 0U);
  EXPECT_TRUE(state.deleted().is_full());
  EXPECT_GE(state.incarnation(), 7U) << "every attempt from now on is later than any of job-0";
}

TEST_F(Delete, OneNameThatIsUsedAgainAndAgainFillsTheMemoryToo) {
  DeletedJobs deleted;
  for (std::size_t i = 0; i < kMaxDeletedJobs; ++i) {
    EXPECT_FALSE(deleted.is_full());
    EXPECT_EQ(deleted.add(JobId("job"), {"s" + std::to_string(i), i + 1}), 0U);
  }
  EXPECT_TRUE(deleted.is_full());
  EXPECT_EQ(deleted.add(JobId("job"), {"last", kMaxDeletedJobs + 1}), 0U)
      << "its incarnation is known";
  EXPECT_EQ(deleted.with_submission("s0"), nullptr);
  EXPECT_NE(deleted.with_submission("s1"), nullptr);
}

// ---- limits ------------------------------------------------------------------------------------

TEST_F(Delete, JobsAreKeptForATime) {
  begin({minutes(30), 0, {}, {}});
  run("first");
  pass(minutes(20));
  run("second");
  EXPECT_THAT(left(), ElementsAre("first", "second"));
  pass(minutes(11));
  EXPECT_THAT(left(), ElementsAre("second"));
  EXPECT_EQ(launcher->facts<JobDeleted>().at(0).by, "");
  EXPECT_THAT(why, ElementsAre(Why(KeptLongEnough{minutes(30)})));
  launcher->restart(minutes(60));
  launcher->send(TickInput{});
  launcher->take<ForgetJob>();
  launcher->drop_notices();
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(Delete, SoManyJobsAreKeptTheNewest) {
  begin({Duration(0), 2, {}, {}});
  for (const char* name : {"a", "b", "c", "d"}) run(name);
  EXPECT_EQ(left().size(), 4U) << "a moment is left to whoever waits for their end";
  pass(minutes(2));
  EXPECT_THAT(left(), ElementsAre("c", "d"));
  EXPECT_THAT(why, ElementsAre(Why(TooMuchKept{KeptWhat::jobs, 4, 2, "ann", 4}),
                               Why(TooMuchKept{KeptWhat::jobs, 3, 2, "ann", 3})));
}

TEST_F(Delete, ManyJobsOfOneUserPushOutNoneOfOthers) {
  begin({Duration(0), 4, {}, {}});
  run("thesis");
  for (int i = 0; i < 9; ++i) run("flood-" + std::to_string(i), "bob");
  pass(minutes(3));
  EXPECT_THAT(left(), ElementsAre("flood-6", "flood-7", "flood-8", "thesis"));
  EXPECT_EQ(why.front(), Why(TooMuchKept{KeptWhat::jobs, 10, 4, "bob", 9}));
}

TEST_F(Delete, JobsThatNeverRanGoBeforeThoseThatDid) {
  begin({Duration(0), 3, {}, {}});
  run("worked", "bob");
  const JobId runs = launcher->submit(job_by("bob", "runs"));
  for (int i = 0; i < 6; ++i)
    launcher->cancel(launcher->submit(job_by("bob", "idle-" + std::to_string(i))));
  launcher->drop_notices();
  pass(minutes(3));
  EXPECT_THAT(left(), ElementsAre("idle-4", "idle-5", runs.value, "worked"));
}

TEST_F(Delete, TheLauncherSaysWhichDeletionsNobodyAskedFor) {
  begin({Duration(0), 1, {}, {}});
  const JobId asked = run("asked");
  remove({asked});
  ASSERT_EQ(forgotten.size(), 1U);
  EXPECT_FALSE(forgotten[0].is_by_limit);
  run("first");
  run("second");
  pass(minutes(2));
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].job.value, "first");
  EXPECT_TRUE(gone[0].is_by_limit);
  EXPECT_EQ(gone[0].project, "default");
}

TEST_F(Delete, SoMuchOfLogsAndOutputsIsKept) {
  begin({Duration(0), 0, Bytes{100}, Bytes{1'000}});
  for (const char* name : {"a", "b", "c"}) run_and_leave(job_by("ann", name), 45, 10);
  EXPECT_EQ(launcher->core->state().ended_size(), (JobSize{Bytes{135}, Bytes{30}}));
  pass(minutes(2));
  EXPECT_THAT(left(), ElementsAre("b", "c"));
  EXPECT_THAT(why, ElementsAre(Why(TooMuchKept{KeptWhat::logs, 135, 100, "ann", 135})));
  EXPECT_EQ(launcher->core->state().ended_size(), (JobSize{Bytes{90}, Bytes{20}}));
}

TEST_F(Delete, LogsAndOutputsOfOneUserPushOutNoneOfOthers) {
  begin({Duration(0), 0, Bytes{200}, Bytes{100}});
  run_and_leave(job_by("ann", "thesis"), 20, 40);
  run("small", "bob");
  for (int i = 0; i < 5; ++i) run_and_leave(job_by("bob", "flood-" + std::to_string(i)), 50, 10);
  pass(minutes(3));
  EXPECT_THAT(left(), ElementsAre("flood-2", "flood-3", "flood-4", "small", "thesis"))
      << "a job without logs gives none of them back";
  for (int i = 5; i < 12; ++i) run_and_leave(job_by("bob", "flood-" + std::to_string(i)), 0, 30);
  pass(minutes(3));
  EXPECT_NE(launcher->core->state().job(JobId("thesis")), nullptr);
  EXPECT_LE(launcher->core->state().ended_size().outputs.count, 100U);
}

TEST_F(Delete, WhoHasNoMoreThanAnEqualShareLosesNothing) {
  EndedJobs ended;
  ended.count("bob", {{}, Bytes{90}});  // of steps whose pipeline has not ended
  ended.count("ann", {{}, Bytes{30}});
  ended.add("ann", {Instant{1}, 1}, JobId("thesis"), {true, false, true});
  EXPECT_FALSE(ended.largest(EndedJobs::What::outputs, 100));
  ended.add("bob", {Instant{2}, 2}, JobId("pipeline"), {true, false, true});
  ASSERT_TRUE(ended.largest(EndedJobs::What::outputs, 100));
  EXPECT_EQ(ended.largest(EndedJobs::What::outputs, 100)->place.second, 2U);
  ended.remove("ann", {Instant{1}, 1});
  ended.remove("bob", {Instant{2}, 2});
  ended.discount("ann", {{}, Bytes{30}});
  ended.discount("bob", {{}, Bytes{90}});
  EXPECT_EQ(ended, EndedJobs());
}

TEST_F(Delete, ATokenIsForgottenADayAfterItExpired) {
  begin();
  ASSERT_EQ(launcher->core->state().tokens().size(), 1U);
  launcher->restart(minutes(60 * 24 * 400));
  launcher->send(TickInput{});
  launcher->take<ForgetJob>();
  launcher->drop_notices();
  EXPECT_THAT(launcher->core->state().tokens(), IsEmpty());
}

// ---- what is referred to -----------------------------------------------------------------------

TEST_F(Delete, RootsAreSourcesAndOutputsOfJobsThatAreThere) {
  begin();
  JobSpec spec = job_spec("train");
  spec.snapshot = sha256("source");
  const JobId job = launcher->submit(spec);
  PartReport end;
  end.attempt = attempt(job);
  end.state = PartState::finished;
  end.exit = node_exit({rank_exit(0)});
  end.outputs = {{OutputKind::outputs, "", sha256("left"), 1, Bytes{10}, {}}};
  launcher->observe(n1, end);
  launcher->drop_notices();
  std::vector<std::string> roots;
  const auto look = [&] {
    roots.clear();
    each_root(launcher->core->state(), [&](const Root& root) {
      roots.push_back(root.tree.hex().substr(0, 4) + " " + root.what);
    });
  };
  look();
  EXPECT_THAT(
      roots, ElementsAre(sha256("source").hex().substr(0, 4) + " its source",
                         sha256("left").hex().substr(0, 4) + " ./outputs of attempt 1 on node n1"));
  remove({job});
  look();
  EXPECT_THAT(roots, IsEmpty());
}

// ---- after a restore ---------------------------------------------------------------------------

TEST_F(Delete, AfterARestoreRevisionsGoOnAboveAllThatNodesHaveSeen) {
  State state;
  state.apply({1}, NodeJoined{NodeId(1), "n1", PublicKey("k"), sha256("t")});
  state.apply({2}, NodeSessionStarted{NodeId(1), BootId{"b"}, SessionId(1), inventory()});
  state.apply({3}, IncarnationBegan{1'795'000'000'000, true});
  EXPECT_EQ(state.node(NodeId(1))->revision, 1'795'000'000'000U);
  EXPECT_EQ(state.incarnation(), 1'795'000'000'000U);
}

TEST_F(Delete, WhatWasPlacedJustBeforeTheBackupIsTriedAgainUnderAnotherName) {
  begin();
  const JobId told = launcher->submit(job_spec("told"));
  launcher->observe(n1, attempt(told), PartState::running);
  const FakeNode n2 = launcher->join("n2");
  const JobId untold = launcher->submit(job_spec("untold"));
  Core restored(launcher->config);
  for (const StampedFact& fact : launcher->all_facts()) restored.replay(fact);
  const Instant now = launcher->now + minutes(60);
  const auto incarnation = static_cast<std::uint64_t>(now.ns / 1'000'000);
  restored.replay({now, IncarnationBegan{incarnation, true}});
  restored.recovered(now);
  restored.handle(now, TickInput{});
  EXPECT_EQ(restored.state().job(told)->status(), JobStatus::running);
  EXPECT_EQ(restored.state().job(untold)->attempts.back().ended->cause, Cause::node_lost);
  SessionOpen open = launcher->opening(n2);
  open.desired_revision = 99;
  restored.handle(now, SessionInput{n2.key, open});
  const AttemptId second = restored.state().job(untold)->attempts.back().id;
  EXPECT_EQ(second.number, 2U);
  EXPECT_EQ(second.incarnation, incarnation);
  EXPECT_GT(restored.desired_for(n2.id).revision, 99U);
}

}  // namespace
}  // namespace lockstep::launcher
