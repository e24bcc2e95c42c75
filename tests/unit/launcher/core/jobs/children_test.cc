// Jobs that running jobs submit: whose they are, how far their parent's credential reaches, and how
// they follow their parent.

#include "launcher/core/jobs/children.h"

#include "common/domain/job/pipeline.h"
#include "common/domain/why/jobs/orders.h"
#include "common/domain/why/nodes/machines.h"
#include "launcher/core/access/users.h"
#include "launcher/words/why.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

JobSpec small(const std::string& name) {
  JobSpec spec = job_spec(name);
  spec.resources.cpus = 1;
  spec.resources.memory = gibibytes(1);
  spec.resources.gpus = 0;
  return spec;
}

class Children : public ::testing::Test {
 protected:
  SubmitInput request(JobSpec spec, Caller caller) {
    const ReplyTo to = launcher.next_reply();
    SubmitInput submit{to, "submission-" + std::to_string(to.request), std::move(spec),
                       "generated"};
    submit.caller = std::move(caller);
    return submit;
  }
  JobId submit(JobSpec spec, Caller caller) {
    launcher.send(request(std::move(spec), std::move(caller)));
    const auto replies = launcher.take<ReplySubmitted>();
    for (const ReplyRefused& refused : launcher.take<ReplyRefused>())
      ADD_FAILURE() << refused.message;
    launcher.drop_notices();
    return replies.empty() ? JobId() : replies.front().job;
  }
  std::string refused(JobSpec spec, Caller caller) {
    launcher.send(request(std::move(spec), std::move(caller)));
    launcher.drop_notices();
    return launcher.expect_one<ReplyRefused>().message;
  }
  JobId parent(JobSpec spec) { return submit(std::move(spec), UserCaller{"ann"}); }
  AttemptCaller of(const JobId& job, std::uint32_t number = 1) const {
    const JobSpec& spec = launcher.core->state().job(job)->spec;
    return {attempt(job, number), spec.submitter, spec.project};
  }
  JobId child(const JobId& of_job, const std::string& name) {
    return submit(small(name), of(of_job));
  }
  const Job& job(const JobId& id) { return *launcher.core->state().job(id); }
  void end(const JobId& id, int code = 0, std::uint32_t number = 1) {
    launcher.finished(node, attempt(id, number),
                      node_exit({code == 0 ? rank_exit(0) : rank_exit(0, Cause::exit_code, code)}));
    launcher.drop_notices();
  }
  JobsDeleted remove(const JobId& id) {
    launcher.send(DeleteInput{launcher.next_reply(), {id}, false, {}, UserCaller{"ann"}});
    JobsDeleted result = launcher.expect_one<ReplyDeleted>().result;
    launcher.take<ForgetJob>();
    launcher.drop_notices();
    return result;
  }

  TestLauncher launcher;
  FakeNode node = launcher.join("n1", inventory(16, gibibytes(64)));
};

TEST_F(Children, AreTheirParentsOwnersWhateverTheRequestSays) {
  JobSpec spec = small("p");
  spec.experiment_name = "digits";
  const JobId p = parent(spec);
  JobSpec asked = small("c");
  asked.submitter = "root";
  const JobId c = submit(asked, of(p));
  EXPECT_EQ(job(c).spec.submitter, "ann");
  EXPECT_EQ(job(c).spec.project, "default");
  EXPECT_EQ(job(c).spec.run_as, job(p).spec.run_as);
  EXPECT_EQ(job(c).spec.experiment_name, "digits");
  EXPECT_EQ(job(c).spec.parent, p);
  EXPECT_EQ(job(c).spec.parent_attempt, 1U);
  EXPECT_EQ(launcher.view(p).children, 1);
  EXPECT_EQ(launcher.view(p).open_children, 1);

  asked = small("d");
  asked.project = "vision";
  EXPECT_THAT(refused(asked, of(p)), HasSubstr("has its project, 'default'"));
  asked = small("d");
  asked.run_as = "root";
  EXPECT_THAT(refused(asked, of(p)), HasSubstr("account"));
}

TEST_F(Children, AreMadeByAttemptsAlone) {
  const JobId p = parent(small("p"));
  JobSpec spec = small("c");
  spec.parent = p;
  EXPECT_THAT(refused(spec, UserCaller{"ann"}), HasSubstr("only a pipeline"));
  spec.parent = {};
  spec.parent_attempt = 1;
  EXPECT_THAT(refused(spec, UserCaller{"ann"}), HasSubstr("only a pipeline"));
  EXPECT_THAT(refused(spec, of(p)), HasSubstr("only a pipeline"));
}

TEST_F(Children, AreCanceledWhenTheirParentFails) {
  const JobId p = parent(small("p"));
  const JobId running = child(p, "running");
  JobSpec wide = small("waiting");
  wide.resources.cpus = 16;
  const JobId waiting = submit(wide, of(p));
  end(p, 3);
  EXPECT_EQ(launcher.status(p), JobStatus::failed);
  EXPECT_EQ(launcher.status(waiting), JobStatus::canceled);
  EXPECT_EQ(launcher.status(running), JobStatus::cancel_requested);
  EXPECT_EQ(job(running).cancel_by, Why(ParentEnded{p, 1}));
  end(running, 143);
  EXPECT_EQ(launcher.status(running), JobStatus::canceled);
}

TEST_F(Children, GoOnWhenTheirParentCompletes) {
  const JobId p = parent(small("p"));
  const JobId c = child(p, "c");
  end(p);
  EXPECT_EQ(launcher.status(p), JobStatus::completed);
  launcher.restart();
  launcher.open(node, {report(attempt(c), PartState::running)});
  launcher.drop_notices();
  EXPECT_FALSE(job(c).cancel_by);
}

TEST_F(Children, AreCanceledWithTheirParentAtOnceAndTheirsToo) {
  const JobId p = parent(small("p"));
  const JobId c = child(p, "c");
  const JobId grandchild = child(c, "g");
  launcher.cancel(p);
  EXPECT_EQ(launcher.status(c), JobStatus::cancel_requested);
  EXPECT_EQ(launcher.status(grandchild), JobStatus::cancel_requested);
}

TEST_F(Children, OfAnAttemptThatIsTriedAgainAreCanceledAndTheNextHasItsOwn) {
  JobSpec spec = small("p");
  spec.retry.max = 1;
  spec.retry.on = {RetryOn::exit_code};
  const JobId p = parent(spec);
  const JobId first = child(p, "first");
  end(p, 3);
  EXPECT_EQ(launcher.status(first), JobStatus::cancel_requested);
  EXPECT_THAT(refused(small("late"), of(p, 1)), HasSubstr("has ended"));
  const JobId second = submit(small("second"), of(p, 2));
  EXPECT_EQ(job(second).spec.parent_attempt, 2U);
  EXPECT_FALSE(job(second).cancel_by);
}

TEST_F(Children, ACredentialEndsWithItsAttempt) {
  const JobId p = parent(small("p"));
  EXPECT_TRUE(is_current(launcher.core->state(), attempt(p)));
  EXPECT_FALSE(is_current(launcher.core->state(), attempt(p, 2)));
  AttemptId earlier_life = attempt(p);
  earlier_life.incarnation = 7;
  EXPECT_FALSE(is_current(launcher.core->state(), earlier_life));
  launcher.cancel(p);
  EXPECT_FALSE(is_current(launcher.core->state(), attempt(p)));
  EXPECT_THAT(refused(small("c"), of(p)), HasSubstr("submits no more jobs"));
  const JobId q = parent(small("q"));
  end(q);
  EXPECT_FALSE(is_current(launcher.core->state(), attempt(q)));
  EXPECT_FALSE(caller_of(launcher.core->state(), attempt(q)));
}

// `lockstep run` as a rank waits for its child after SIGTERM, and must hear of its end.
TEST_F(Children, WhileRanksAreEndedTheirCredentialOnlyLooksOnAndCancels) {
  const JobId p = parent(small("p"));
  const JobId c = child(p, "c");
  launcher.observe(node, attempt(p), PartState::running);
  launcher.cancel(p);
  launcher.drop_notices();
  const State& state = launcher.core->state();
  const auto caller = caller_of(state, attempt(p));
  ASSERT_TRUE(caller);
  EXPECT_TRUE(caller->is_ending);
  const Object object = object_of(job(c));
  for (const Permission one :
       {Permission::see_job, Permission::read_job, Permission::cancel_job, Permission::see_cluster})
    EXPECT_TRUE(may(state.principals(), *caller, one, object).allowed) << to_string(one);
  for (const Permission one : {Permission::submit, Permission::write_blobs, Permission::read_blobs,
                               Permission::see_names, Permission::delete_job})
    EXPECT_FALSE(may(state.principals(), *caller, one, object).allowed) << to_string(one);
  EXPECT_THAT(refused(small("late"), *caller), HasSubstr("submits no more jobs"));
  end(p, 143);
  EXPECT_FALSE(caller_of(state, attempt(p)));
}

// If its parent waits for it, neither ever goes on.
TEST_F(Children, OneThatIsWaitedForAndNeedsItsParentsNodesIsRefused) {
  const JobId whole = parent(job_spec("whole"));
  const auto waited = [&](JobSpec spec) {
    SubmitInput input = request(std::move(spec), of(whole));
    input.waits = true;
    return input;
  };
  launcher.send(waited(small("c")));
  const auto refusal = launcher.expect_one<ReplyRefused>();
  EXPECT_EQ(refusal.code, ErrorCode::conflict);
  EXPECT_THAT(refusal.message,
              HasSubstr("needs 1 node with 1 cpu, 1.0 GiB memory, 0 gpus, and job 'whole', which "
                        "submits it, holds so much of target 'local' (n1): the two would wait for "
                        "each other for ever. Let the job that submits hold less (--cpus, "));
  EXPECT_THAT(refusal.message,
              HasSubstr("do not wait for the child (`lockstep run --detach`, or `lockstep job "
                        "create` without `--stream`): it starts when that job has ended"));
  launcher.send(request(small("later"), of(whole)));
  const auto submitted = launcher.take<ReplySubmitted>();
  launcher.drop_notices();
  ASSERT_EQ(submitted.size(), 1u);
  ASSERT_FALSE(submitted[0].notes.empty());
  ASSERT_TRUE(submitted[0].notes.back().is<StartsAfterParent>());
  const Why held = submitted[0].notes.back().as<StartsAfterParent>()->why;
  ASSERT_TRUE(held.is<HeldByParent>());
  EXPECT_EQ(held.as<HeldByParent>()->parent, whole);
  EXPECT_EQ(held.as<HeldByParent>()->nodes, std::vector<std::string>{"n1"});
}

TEST_F(Children, OneWithAStepThatNeedsItsParentsNodesIsRefusedToo) {
  const JobId whole = parent(job_spec("whole"));
  JobSpec line;
  line.name = "line";
  PipelineStep step;
  step.name = "a";
  step.spec = small("");
  PipelineSpec steps;
  steps.steps.push_back(step);
  line.pipeline = steps;
  SubmitInput input = request(line, of(whole));
  input.waits = true;
  launcher.send(input);
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message,
              HasSubstr("step 'a' needs 1 node with 1 cpu, 1.0 GiB memory, 0 gpus, and job"));
}

TEST_F(Children, OneThatFitsBesideItsParentIsTaken) {
  const JobId p = parent(small("p"));
  SubmitInput input = request(small("c"), of(p));
  input.waits = true;
  launcher.send(input);
  EXPECT_EQ(launcher.take<ReplySubmitted>().size(), 1u);
  launcher.drop_notices();
}

TEST_F(Children, ACredentialCancelsItsOwnAndNoOtherJobOfItsOwner) {
  const JobId p = parent(small("p"));
  const JobId c = child(p, "c");
  const JobId other = parent(small("other"));
  launcher.send(CancelInput{launcher.next_reply(), other, of(p)});
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().code, ErrorCode::permission_denied);
  launcher.send(DeleteInput{launcher.next_reply(), {c}, true, {}, of(p)});
  EXPECT_TRUE(launcher.expect_one<ReplyDeleted>().result.jobs.empty());
  launcher.send(CancelInput{launcher.next_reply(), c, of(p)});
  launcher.expect_one<ReplyDone>();
  launcher.drop_notices();
  EXPECT_EQ(job(c).cancel_by, Why(AskedByAttempt{attempt(p)}));
}

TEST_F(Children, HaveAtMostEightGenerations) {
  JobId last = parent(small("g0"));
  for (int i = 1; i <= kMaxGenerations; ++i) last = child(last, "g" + std::to_string(i));
  EXPECT_THAT(refused(small("g9"), of(last)), HasSubstr("the most allowed"));
}

TEST_F(Children, UseOnlySecretsThatTheirParentNames) {
  JobSpec spec = small("p");
  spec.environment_variables["TOKEN"] = "${{secrets.TOKEN}}";
  const JobId p = parent(spec);
  JobSpec asked = small("c");
  asked.environment_variables["T"] = "Bearer ${{secrets.TOKEN}}";
  submit(asked, of(p));
  asked = small("d");
  asked.environment_variables["T"] = "${{secrets.OTHER}}";
  EXPECT_THAT(refused(asked, of(p)), HasSubstr("'OTHER' is none of them"));
  JobSpec whole = job_spec("e");
  PipelineSpec pipeline;
  pipeline.steps.emplace_back();
  pipeline.steps.front().name = "a";
  pipeline.steps.front().spec = asked;
  pipeline.steps.front().spec.name.clear();
  whole.pipeline = std::move(pipeline);
  EXPECT_THAT(refused(whole, of(p)), HasSubstr("jobs.a: environment_variables"));
}

TEST_F(Children, RegisterNoNames) {
  const JobId p = parent(small("p"));
  JobSpec spec = small("c");
  OutputSpec output;
  output.name = "model";
  output.asset = OutputAsset{};
  output.asset->name = "digits";
  spec.outputs = {output};
  EXPECT_THAT(refused(spec, of(p)), HasSubstr("outputs.model.name: a job that is submitted by"));
}

TEST_F(Children, AreSharedAsTheirParentIs) {
  const JobId p = parent(small("p"));
  const JobId before = child(p, "before");
  const auto share = [&](bool shared) {
    launcher.send(ShareInput{launcher.next_reply(), p, shared, UserCaller{"ann"}});
    launcher.expect_one<ReplyDone>();
    launcher.take<ReadersChanged>();
    launcher.drop_notices();
  };
  share(true);
  const JobId during = child(p, "during");
  EXPECT_TRUE(job(before).shared);
  EXPECT_TRUE(job(during).shared);
  share(false);
  EXPECT_FALSE(job(before).shared);
  EXPECT_FALSE(job(during).shared);
}

TEST_F(Children, ThatHaveNotEndedKeepTheirParentFromADeletionOfAll) {
  const JobId p = parent(small("p"));
  child(p, "c");
  end(p);
  launcher.send(DeleteInput{launcher.next_reply(), {}, true, {}, UserCaller{"ann"}});
  const JobsDeleted result = launcher.expect_one<ReplyDeleted>().result;
  EXPECT_TRUE(result.jobs.empty());
  ASSERT_EQ(result.kept.size(), 1U);
  EXPECT_EQ(result.kept[0].job, p);
}

TEST_F(Children, GoWithTheirParentWhenItIsDeletedAndNotBeforeTheyHaveEnded) {
  const JobId p = parent(small("p"));
  const JobId c = child(p, "c");
  const JobId grandchild = child(c, "g");
  end(p);
  end(c);
  const JobsDeleted kept = remove(p);
  ASSERT_EQ(kept.kept.size(), 1U);
  EXPECT_THAT(kept.kept.front().message, HasSubstr("job 'g', which was submitted by job 'c'"));
  end(grandchild);
  EXPECT_EQ(remove(p).jobs.size(), 1U);
  EXPECT_TRUE(launcher.core->state().jobs().empty());
}

TEST_F(Children, AreNoChildrenOfALaterJobOfTheSameName) {
  CoreConfig config;
  config.keeps.jobs_for = minutes(2);
  TestLauncher other(config);
  FakeNode n = other.join("n1", inventory(16, gibibytes(64)));
  const auto ask = [&](const std::string& name, Caller caller) {
    const ReplyTo to = other.next_reply();
    SubmitInput submit{to, "s-" + std::to_string(to.request), small(name), "generated"};
    submit.caller = std::move(caller);
    other.send(submit);
    const JobId made = other.expect_one<ReplySubmitted>().job;
    other.drop_notices();
    return made;
  };
  const JobId p = ask("p", UserCaller{"ann"});
  const JobId c = ask("c", AttemptCaller{attempt(p), "ann", "default"});
  other.finished(n, attempt(p), node_exit({rank_exit(0)}));
  other.observe(n, attempt(c), PartState::running);
  other.drop_notices();
  for (int i = 0; i < 20; ++i) {
    other.now = other.now + seconds(10);
    other.send(HeartbeatInput{n.key, {n.id, n.session, 0, 0}});
    other.take<AckHeartbeat>();
    other.take<ForgetJob>();
    other.drop_notices();
  }
  ASSERT_EQ(other.core->state().job(p), nullptr) << "it was kept long enough";
  ask("p", UserCaller{"ann"});
  EXPECT_TRUE(other.core->state().job(c)->child_of.value.empty());
  EXPECT_TRUE(other.view(c).spec.parent.value.empty()) << "that of the deleted job, or of another";
  EXPECT_EQ(other.view(p).children, 0);
  other.cancel(p, "ann");
  EXPECT_FALSE(other.core->state().job(c)->cancel_by);
}

}  // namespace
}  // namespace lockstep::launcher
