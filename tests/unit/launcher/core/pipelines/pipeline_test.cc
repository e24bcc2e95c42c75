// Pipelines: when their steps begin, what they read, and how the whole ends.

#include "common/domain/job/pipeline.h"
#include "common/domain/why/jobs/explain.h"
#include "common/domain/why/jobs/steps.h"
#include "common/domain/why/jobs/vain.h"

#include "common/domain/why/all/reason.h"
#include "launcher/core/explain/reuse.h"
#include "launcher/state/jobs/step_key.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PipelineStep step(const std::string& name, const std::vector<std::string>& reads = {}) {
  PipelineStep step;
  step.name = name;
  step.spec.command = ShellCommand{"make " + name};
  step.spec.outputs = {{"made", OutputType::uri_folder, OutputMode::rw_mount}};
  for (const std::string& other : reads) {
    DataInput input;
    input.name = "from_" + other;
    step.spec.data.push_back(input);
    step.bindings.push_back({input.name, other, "made"});
  }
  return step;
}

JobSpec pipeline(const std::string& name, std::vector<PipelineStep> steps, bool continues = true) {
  JobSpec spec = job_spec(name);
  PipelineSpec whole;
  whole.steps = std::move(steps);
  whole.continue_on_step_failure = continues;
  spec.pipeline = std::move(whole);
  return spec;
}

class Pipelines : public ::testing::Test {
 protected:
  JobId start(JobSpec spec) {
    const JobId job = launcher.submit(std::move(spec));
    launcher.drop_notices();
    return job;
  }
  // The step's job ends on `node`; if it completed, its output is the tree of `content`.
  void end(const JobId& job, const std::string& content, int code = 0) {
    PartReport report = lockstep::launcher::report(attempt(job), PartState::finished);
    report.exit = node_exit({code == 0 ? rank_exit(0) : rank_exit(0, Cause::exit_code, code)});
    CollectedOutput output;
    output.kind = OutputKind::named;
    output.name = "made";
    output.tree = sha256(content);
    report.outputs = {output};
    launcher.observe(node_of(job), report);
    launcher.drop_notices();
    if (code != 0) return;
    const auto asked = launcher.expect_one<MergeOutputs>();
    EXPECT_EQ(asked.job, job);
    EXPECT_EQ(launcher.status(job), JobStatus::finalizing);
    launcher.send(OutputsMergedInput{job, {{"made", sha256("merged " + content), "", {}}}, ""});
    launcher.drop_notices();
  }
  FakeNode& node_of(const JobId& job) {
    return launcher.placed_on(attempt(job)).front() == n1.id ? n1 : n2;
  }
  std::string phase(const JobId& job, const std::string& name) {
    const JobView whole = launcher.view(job);
    for (const StepView& view : whole.steps)
      if (view.name == name) return std::string(to_string(view.phase));
    return "no such step";
  }
  // Of a step that waits, failed or is not run.
  Why why(const JobId& job, const std::string& name) {
    const JobView whole = launcher.view(job);
    for (const StepView& view : whole.steps)
      if (view.name == name) return view.why;
    return {};
  }
  // Why it is not run, of a step that is not.
  Why not_run(const JobId& job, const std::string& name) {
    EXPECT_EQ(phase(job, name), "NotRun");
    return why(job, name);
  }
  const JobSpec& spec_of(const char* job) { return launcher.core->state().job(JobId(job))->spec; }

  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
};

TEST_F(Pipelines, AStepBeginsWithWhatTheStepsBeforeItMade) {
  const JobId job = start(pipeline("p", {step("a"), step("b"), step("c", {"a", "b"})}));
  EXPECT_EQ(launcher.status(job), JobStatus::running);
  EXPECT_EQ(launcher.why(job), (WaitsForSteps{2, 0, 1, ""}));
  EXPECT_EQ(phase(job, "c"), "Waiting");
  EXPECT_EQ(why(job, "c"), (WaitsForStep{"a", 1}));
  end(JobId("p_a"), "A");
  EXPECT_EQ(phase(job, "a"), "Completed");
  EXPECT_EQ(why(job, "c"), (WaitsForStep{"b", 0}));
  end(JobId("p_b"), "B");
  const JobSpec& c = spec_of("p_c");
  EXPECT_EQ(c.parent, job);
  EXPECT_EQ(c.step, "c");
  EXPECT_EQ(c.data[0].tree, sha256("merged A"));
  EXPECT_EQ(c.data[1].tree, sha256("merged B"));
  EXPECT_EQ(c.data[1].source, "azureml://jobs/p_b/outputs/made");
  end(JobId("p_c"), "C");
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST_F(Pipelines, AStepThatWaitsInVainIsSaidAtSubmissionAndWhenItWaits) {
  PipelineStep wide = step("wide", {"a"});
  wide.spec.resources.instance_count = 5;
  launcher.send(SubmitInput{launcher.next_reply(), "s", pipeline("p", {step("a"), wide}), ""});
  const auto submitted = launcher.expect_one<ReplySubmitted>();
  launcher.drop_notices();
  ASSERT_EQ(submitted.notes.size(), 1U);
  const auto* vain = submitted.notes.front().as<JobWaitsInVain>();
  ASSERT_NE(vain, nullptr);
  EXPECT_EQ(vain->step, "wide");
  EXPECT_EQ(vain->asked.nodes, 5);
  const auto* never = vain->vain.as<NodesNeverFit>();
  ASSERT_NE(never, nullptr);
  EXPECT_EQ(never->fitting, 2);
  EXPECT_EQ(never->target, "local");
  EXPECT_FALSE(launcher.view(submitted.job).steps[1].in_vain) << "it waits for step a";
  end(JobId("p_a"), "A");
  EXPECT_TRUE(launcher.view(submitted.job).steps[1].in_vain);
  EXPECT_FALSE(launcher.view(submitted.job).steps[0].in_vain);
}

TEST_F(Pipelines, WhatNeedsAFailedStepIsNotRunAndTheOthersAre) {
  const JobId job = start(
      pipeline("p", {step("a"), step("b"), step("c", {"a"}), step("d", {"c"}), step("e", {"b"})}));
  end(JobId("p_a"), "", 3);
  EXPECT_EQ(launcher.why(job), (WaitsForSteps{1, 0, 1, "a"}));
  EXPECT_EQ(not_run(job, "c"), (NeedsFailedStep{"a", {"made", "from_a"}}));
  EXPECT_EQ(not_run(job, "d"), (NeedsSkippedStep{"c", {"made", "from_c"}, "a", {}}));
  end(JobId("p_b"), "B");
  end(JobId("p_e"), "E");
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  const JobView view = launcher.view(job);
  EXPECT_EQ(view.report->exit_code, 3);
  const auto* first = view.report->why.as<StepEndedBadly>();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->step, "a");
  EXPECT_EQ(first->job, JobId("p_a"));
  EXPECT_EQ(view.why, view.report->why);
}

// A step far down names the first failure, the step before it, and an input of its own.
TEST_F(Pipelines, AStepFarDownNamesTheFirstFailureAndItsOwnInput) {
  const JobId job = start(pipeline(
      "p", {step("one"), step("two", {"one"}), step("three", {"two"}), step("four", {"three"})}));
  end(JobId("p_one"), "", 3);
  EXPECT_EQ(not_run(job, "two"), (NeedsFailedStep{"one", {"made", "from_one"}}));
  EXPECT_EQ(not_run(job, "three"), (NeedsSkippedStep{"two", {"made", "from_two"}, "one", {}}));
  EXPECT_EQ(not_run(job, "four"), (NeedsSkippedStep{"three", {"made", "from_three"}, "one", {}}));
}

TEST_F(Pipelines, AStepFarDownOfOneThatCouldNotBeginSaysWhy) {
  std::vector<PipelineStep> steps = {step("a"), step("b", {"a"}), step("c", {"b"}),
                                     step("d", {"c"})};
  steps[1].spec.data[0].type = InputType::uri_file;
  const JobId job = start(pipeline("p", steps));
  end(JobId("p_a"), "A");
  const Why folder = InputIsAFolder{"a", {"made", "from_a"}};
  EXPECT_EQ(not_run(job, "b"), folder);
  EXPECT_EQ(not_run(job, "c"), (NeedsSkippedStep{"b", {"made", "from_b"}, "", folder}));
  EXPECT_EQ(not_run(job, "d"), (NeedsSkippedStep{"c", {"made", "from_c"}, "b", folder}));
  EXPECT_EQ(launcher.why(job), (StepWasNotRun{"b", folder}));
}

TEST_F(Pipelines, WithoutContinuingNoFurtherStepBegins) {
  const JobId job =
      start(pipeline("p", {step("a"), step("b"), step("e", {"b"})}, /*continues=*/false));
  end(JobId("p_a"), "", 3);
  EXPECT_EQ(not_run(job, "e"), EndsWithFailedStep{"a"});
  EXPECT_EQ(phase(job, "b"), "Running");
  EXPECT_EQ(launcher.status(job), JobStatus::running);
  end(JobId("p_b"), "B");
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
}

TEST_F(Pipelines, AnArrayRunsSoManyTasksAtATime) {
  JobSpec task = job_spec("many");
  task.resources.cpus = 1;
  const JobId job = start(as_array(task, array_from("5-8%2").value()));
  EXPECT_EQ(launcher.why(job), (WaitsForSteps{2, 0, 2, ""}));
  EXPECT_EQ(phase(job, "7"), "Waiting");
  EXPECT_EQ(why(job, "7"), TooManyStepsRun{2});
  EXPECT_EQ(spec_of("many_5").array, (ArrayTask{5, 4, 5, 8}));
  end(JobId("many_5"), "", 3);
  EXPECT_EQ(phase(job, "5"), "Failed");
  EXPECT_EQ(why(job, "5"), launcher.why(JobId("many_5")));
  EXPECT_EQ(phase(job, "7"), "Running");
  EXPECT_EQ(why(job, "8"), TooManyStepsRun{2});
}

TEST_F(Pipelines, WithoutContinuingAStepThatIsQueuedDoesNotBeginEither) {
  const JobId job = start(pipeline("p", {step("a"), step("b"), step("c")}, /*continues=*/false));
  EXPECT_EQ(launcher.why(job), (WaitsForSteps{2, 1, 0, ""}));
  end(JobId("p_a"), "", 3);
  EXPECT_EQ(launcher.status(JobId("p_c")), JobStatus::canceled);
  EXPECT_EQ(phase(job, "b"), "Running");
  end(JobId("p_b"), "B");
  EXPECT_EQ(launcher.view(job).report->exit_code, 3) << "the first failure is the pipeline's";
}

TEST_F(Pipelines, WhatANodeCouldNotKeepIsSaidAndNotReused) {
  for (const char* name : {"p", "q"}) {
    const JobId job = start(pipeline(name, {step("a"), step("b", {"a"})}));
    const JobId a(std::string(name) + "_a");
    PartReport report = lockstep::launcher::report(attempt(a), PartState::finished);
    report.exit = node_exit({rank_exit(0)});
    report.outputs = {{OutputKind::named, "made", {}, 0, {}, {"it is not a folder"}, 0}};
    launcher.observe(node_of(a), report);
    launcher.drop_notices();
    const std::string node = node_of(a).id == n1.id ? "n1" : "n2";
    EXPECT_EQ(
        not_run(job, "b"),
        (InputWasNotKept{"a", a, {"made", "from_a"}, "node " + node + ": it is not a folder"}));
    EXPECT_EQ(launcher.status(job), JobStatus::failed);
  }
}

// Root of a node has the credential of each attempt there: what jobs submitted with it made, is not
// taken for what a step of the owner's own would make, nor for another family's.
TEST_F(Pipelines, WhatJobsOfAnAttemptMadeIsReusedInTheirFamilyOnly) {
  const auto submit = [&](JobSpec spec, Caller caller) {
    const ReplyTo to = launcher.next_reply();
    SubmitInput input{to, "of-" + spec.name, std::move(spec), "generated"};
    input.caller = std::move(caller);
    launcher.send(input);
    launcher.drop_notices();
    return launcher.expect_one<ReplySubmitted>().job;
  };
  const UserCaller ann{"ann"};
  const auto of = [](const char* job) {
    return AttemptCaller{attempt(JobId(job)), "ann", "default"};
  };
  submit(job_spec("train"), ann);
  submit(pipeline("forged", {step("a")}), of("train"));
  end(JobId("forged_a"), "forged");
  EXPECT_EQ(phase(submit(pipeline("again", {step("a")}), of("train")), "a"), "Reused");

  EXPECT_EQ(phase(submit(pipeline("own", {step("a")}), ann), "a"), "Running");
  end(JobId("own_a"), "A");
  EXPECT_EQ(phase(submit(pipeline("own2", {step("a")}), ann), "a"), "Reused");
  EXPECT_EQ(launcher.view(JobId("own2")).steps[0].job, JobId("own_a"));
  EXPECT_EQ(launcher.view(JobId("own2")).steps[0].phase, StepPhase::reused);

  // A child's child is of the same family.
  JobSpec between = job_spec("between");
  submit(between, of("train"));
  submit(pipeline("deep", {step("a")}), of("between"));
  EXPECT_EQ(launcher.view(JobId("deep")).steps[0].job, JobId("forged_a"));
  launcher.run_solo(node_of(JobId("between")), attempt(JobId("between")),
                    node_exit({rank_exit(0)}));
  launcher.drop_notices();
  launcher.run_solo(node_of(JobId("train")), attempt(JobId("train")), node_exit({rank_exit(0)}));
  launcher.drop_notices();
  EXPECT_EQ(launcher.core->state().job(JobId("deep"))->family,
            launcher.core->state().job(JobId("train"))->order);
}

TEST_F(Pipelines, TheSameContentIsReusedAndOtherContentIsNot) {
  start(pipeline("p", {step("a"), step("b", {"a"})}));
  end(JobId("p_a"), "A");
  end(JobId("p_b"), "B");
  std::vector<PipelineStep> steps = {step("a"), step("b", {"a"})};
  const JobId again = start(pipeline("q", steps));
  EXPECT_EQ(launcher.status(again), JobStatus::completed);
  EXPECT_EQ(phase(again, "a"), "Reused");
  EXPECT_EQ(launcher.core->job_view(again)->steps[1].job, JobId("p_b"));
  steps[0].reuse = false;
  start(pipeline("r", steps));
  end(JobId("r_a"), "other");
  EXPECT_EQ(spec_of("r_b").data[0].tree, sha256("merged other")) << "its input is another";
  end(JobId("r_b"), "B");
  // What is registered or written elsewhere is an effect of the run.
  steps = {step("a")};
  steps[0].spec.outputs[0].asset = OutputAsset{"best", "", InputType::uri_folder};
  start(pipeline("named", steps));
  EXPECT_EQ(phase(JobId("named"), "a"), "Running");
  end(JobId("named_a"), "A");
  steps[0].spec.outputs[0].asset.reset();
  steps[0].spec.outputs[0].path = "azureml://datastores/d/paths/x";
  start(pipeline("placed", steps));
  EXPECT_EQ(phase(JobId("placed"), "a"), "Running");
  end(JobId("placed_a"), "A");
  // Nothing tells whether files that are read in place, or another job's checkpoints, are the same.
  DataInput in_place;
  in_place.name = "data";
  in_place.source = "azureml://datastores/d/paths/x";
  steps[0].spec.outputs[0].path.clear();
  steps[0].spec.data = {in_place};
  for (const std::string name : {"files", "files_again"}) {
    start(pipeline(name, steps));
    EXPECT_EQ(phase(JobId(name), "a"), "Running");
    end(JobId(name + "_a"), "A");
  }
  JobSpec resumed = spec_of("p_a");
  EXPECT_TRUE(reuse_key(resumed));
  resumed.from_checkpoint_of = JobId("p_b");
  EXPECT_FALSE(reuse_key(resumed));
  // What another user made is not taken.
  JobSpec foreign = pipeline("s", {step("a")});
  foreign.submitter = "bob";
  start(std::move(foreign));
  EXPECT_EQ(spec_of("s_a").submitter, spec_of("s").submitter);
}

TEST_F(Pipelines, ExplainSaysWhatChanged) {
  start(pipeline("p", {step("a"), step("b", {"a"})}));
  end(JobId("p_a"), "A");
  end(JobId("p_b"), "B");
  std::vector<PipelineStep> steps = {step("a"), step("b", {"a"})};
  steps[1].spec.command = ShellCommand{"make b anew"};
  steps[1].spec.environment_variables = {{"MORE", "1"}};
  const JobId again = start(pipeline("q", std::move(steps)));
  const State& state = launcher.core->state();
  const auto all = [](const Job&) { return true; };
  EXPECT_THAT(explain_reuse(state, *state.job(again), all).lines,
              ElementsAre(Why(StepReuses{"a", JobId("p_a")})));
  EXPECT_THAT(
      explain_reuse(state, *state.job(JobId("q_b")), all).lines,
      ElementsAre(Why(IsStepOf{"b", JobId("q")}),
                  Why(RunsAgain{JobId("p_b"), {{"command", {}}, {"variable 'MORE'", {}}}})));
}

TEST_F(Pipelines, ExplainNamesTheTreesThatDiffer) {
  std::vector<PipelineStep> steps = {step("a")};
  DataInput data;
  data.name = "data";
  data.source = "./data";
  data.tree = sha256("old data");
  steps[0].spec.data = {data};
  steps[0].spec.snapshot = sha256("code");
  start(pipeline("p", steps));
  end(JobId("p_a"), "A");
  steps[0].spec.data[0].tree = sha256("new data");
  start(pipeline("q", steps));
  end(JobId("q_a"), "A");
  steps[0].spec.data[0].mode = InputMode::download;
  steps[0].spec.snapshot.reset();
  start(pipeline("r", steps));
  const State& state = launcher.core->state();
  const auto rerun_of = [&](const char* job) {
    return explain_reuse(state, *state.job(JobId(job)), [](const Job&) { return true; }).rerun;
  };
  EXPECT_EQ(rerun_of("q_a"),
            (RerunView{JobId("p_a"), {{"input 'data'", sha256("old data"), sha256("new data")}}}));
  const RerunView third{JobId("q_a"), {{"code", sha256("code"), {}}, {"input 'data'", {}, {}}}};
  EXPECT_EQ(rerun_of("r_a"), third) << "newest first; the same files are not compared";
  const auto nothing =
      explain_reuse(state, *state.job(JobId("q_a")), [](const Job&) { return false; });
  EXPECT_FALSE(nothing.rerun);
  EXPECT_EQ(nothing.lines.back(), NoRunHadThisContent{});
}

TEST(WhyAgain, HasTheFilesThatDiffer) {
  const auto parts = [](FileChanges files) {
    const Why why = why_again({JobId("p"), {{"code", sha256("a"), sha256("b"), std::move(files)}}});
    EXPECT_EQ(why.as<RunsAgain>()->before, JobId("p"));
    return why.as<RunsAgain>()->parts;
  };
  EXPECT_EQ(parts({1, 0, 2, "a", true}),
            (std::vector{ChangedPart{"code", ChangedFiles{1, 0, 2, "a", true}}}));
  EXPECT_EQ(parts({}), (std::vector{ChangedPart{"code", {}}}));
}

TEST_F(Pipelines, ReusedOutputsStayWhenTheirJobIsDeleted) {
  const JobId first = start(pipeline("p", {step("a")}));
  end(JobId("p_a"), "A");
  std::vector<PipelineStep> steps = {step("a"), step("b", {"a"})};
  start(pipeline("q", std::move(steps)));
  launcher.send(DeleteInput{launcher.next_reply(), {first}, false, {}, LauncherItself{}});
  EXPECT_THAT(launcher.expect_one<ReplyDeleted>().result.jobs, ElementsAre(first));
  EXPECT_EQ(launcher.take<ForgetJob>().size(), 2U) << "the pipeline, and the job of its step";
  launcher.drop_notices();
  EXPECT_EQ(launcher.core->state().job(JobId("p_a")), nullptr);
  launcher.restart();
  const auto roots = launcher.core->trees();
  EXPECT_THAT(roots, ::testing::Contains(sha256("merged A")));
}

TEST_F(Pipelines, TheJobOfAStepIsNotDeletedAlone) {
  start(pipeline("p", {step("a")}));
  end(JobId("p_a"), "A");
  launcher.send(DeleteInput{launcher.next_reply(), {JobId("p_a")}, false, {}, LauncherItself{}});
  const JobsDeleted result = launcher.expect_one<ReplyDeleted>().result;
  EXPECT_THAT(result.jobs, IsEmpty());
  EXPECT_THAT(result.kept.front().message, HasSubstr("is step 'a' of pipeline 'p'"));
}

TEST_F(Pipelines, ACancelEndsItsStepsAndBeginsNone) {
  const JobId job = start(pipeline("p", {step("a"), step("b", {"a"})}));
  launcher.cancel(job);
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::cancel_requested);
  EXPECT_EQ(launcher.status(JobId("p_a")), JobStatus::cancel_requested);
  launcher.finished(node_of(JobId("p_a")), attempt(JobId("p_a")), node_exit({terminated(0)}));
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::canceled);
  EXPECT_EQ(not_run(job, "b"), PipelineWasCanceled{});
}

TEST_F(Pipelines, OnInitIsFirstAndOnFinalizeLastAlsoAfterAFailure) {
  std::vector<PipelineStep> steps = {step("first"), step("a"), step("last")};
  steps[0].role = StepRole::on_init;
  steps[2].role = StepRole::on_finalize;
  const JobId job = start(pipeline("p", std::move(steps)));
  EXPECT_EQ(phase(job, "a"), "Waiting");
  EXPECT_EQ(why(job, "a"), WaitsForOnInit{});
  EXPECT_EQ(why(job, "last"), WaitsForOtherSteps{});
  end(JobId("p_first"), "F");
  end(JobId("p_a"), "", 5);
  EXPECT_EQ(phase(job, "last"), "Running");
  end(JobId("p_last"), "L");
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  EXPECT_EQ(launcher.view(job).report->exit_code, 5);
}

TEST_F(Pipelines, AStepThatNeedsAnOutputThatNobodyWroteIsNotRun) {
  const JobId job = start(pipeline("p", {step("a"), step("b", {"a"})}));
  launcher.finished(node_of(JobId("p_a")), attempt(JobId("p_a")), node_exit({rank_exit(0)}));
  launcher.drop_notices();
  EXPECT_EQ(not_run(job, "b"), (InputWasNotWritten{"a", JobId("p_a"), {"made", "from_a"}}));
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  EXPECT_EQ(launcher.view(job).report->exit_code, 125);
}

TEST_F(Pipelines, AMergeIsAskedForAgainAfterARestartAndWhenThereIsNoSpace) {
  const JobId job = start(pipeline("p", {step("a")}));
  PartReport report = lockstep::launcher::report(attempt(JobId("p_a")), PartState::finished);
  report.exit = node_exit({rank_exit(0)});
  report.outputs = {{OutputKind::named, "made", sha256("A"), 1, {}, {}, 0}};
  launcher.observe(node_of(JobId("p_a")), report);
  launcher.drop_notices();
  launcher.expect_one<MergeOutputs>();
  launcher.restart();
  launcher.tick();
  launcher.drop_notices();
  EXPECT_EQ(launcher.expect_one<MergeOutputs>().outputs.front().trees.size(), 1U);
  launcher.send(OutputsMergedInput{JobId("p_a"), {}, "no space"});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(JobId("p_a")), JobStatus::finalizing);
  std::size_t asked = 0;
  for (int i = 0; i < 8; ++i) {
    launcher.tick(seconds(1));
    launcher.drop_notices();
    asked += launcher.take<MergeOutputs>().size();
  }
  EXPECT_EQ(asked, 1U);
  launcher.send(OutputsMergedInput{JobId("p_a"), {{"made", sha256("A"), "", {}}}, ""});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST_F(Pipelines, APersonCannotSubmitAJobAsAStep) {
  JobSpec spec = job_spec("x");
  spec.parent = JobId("p");
  spec.step = "a";
  EXPECT_THAT(launcher.submit_refused(spec).message, HasSubstr("only a pipeline"));
}

TEST_F(Pipelines, WhatAJobWouldBeRefusedForAPipelineIsToo) {
  std::vector<PipelineStep> steps = {step("a"), step("b")};
  steps[1].spec.compute = "nowhere";
  EXPECT_THAT(launcher.submit_refused(pipeline("p", std::move(steps))).message,
              HasSubstr("jobs.b: "));
}

TEST_F(Pipelines, SharingFollowsThePipeline) {
  const JobId job = start(pipeline("p", {step("a"), step("b", {"a"})}));
  launcher.send(ShareInput{launcher.next_reply(), job, true, LauncherItself{}});
  launcher.expect_one<ReplyDone>();
  launcher.drop_notices();
  EXPECT_TRUE(launcher.view(JobId("p_a")).shared);
  end(JobId("p_a"), "A");
  EXPECT_TRUE(launcher.view(JobId("p_b")).shared) << "also a step that begins later";
}

}  // namespace
}  // namespace lockstep::launcher
