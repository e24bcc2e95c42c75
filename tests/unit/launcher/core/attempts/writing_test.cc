// Outputs that the launcher writes to remote datastores once they are merged.

#include "launcher/state/compact.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using State = OutputWrite::State;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

OutputSpec to_lake(const std::string& name) {
  OutputSpec output;
  output.name = name;
  output.path = "azureml://datastores/lake/paths/${{name}}/${{output_name}}";
  output.remote = "lake";
  return output;
}

class Writing : public ::testing::Test {
 protected:
  explicit Writing(CoreConfig config = {}) : launcher(std::move(config)) {}

  // The job's rank ends, and left something in each of its outputs.
  void end(const JobId& job, int code = 0) {
    PartReport report = lockstep::launcher::report(attempt(job), PartState::finished);
    report.exit = node_exit({code == 0 ? rank_exit(0) : rank_exit(0, Cause::exit_code, code)});
    for (const OutputSpec& output : launcher.core->state().job(job)->spec.outputs) {
      CollectedOutput collected;
      collected.kind = OutputKind::named;
      collected.name = output.name;
      collected.tree = sha256("part " + output.name);
      report.outputs.push_back(collected);
    }
    launcher.observe(node, report);
    launcher.drop_notices();
  }
  void merge(const JobId& job) {
    OutputsMergedInput merged{job, {}, ""};
    for (const auto& output : launcher.expect_one<MergeOutputs>().outputs)
      merged.outputs.push_back({output.name, sha256(output.name), "", {}});
    launcher.send(merged);
    launcher.drop_notices();
  }
  JobId run(const std::string& name, std::vector<OutputSpec> outputs) {
    JobSpec spec = job_spec(name);
    spec.outputs = std::move(outputs);
    const JobId job = launcher.submit(spec);
    launcher.drop_notices();
    end(job);
    merge(job);
    return job;
  }
  void answer(const WriteOutput& write, const std::string& why_not = "") {
    launcher.send(OutputWrittenInput{write.job, write.order, write.output, told(why_not)});
    launcher.drop_notices();
  }
  OutputWrite write_of(const JobId& job) { return launcher.view(job).writes.front(); }
  // For so long, nothing is written; then it is tried again.
  WriteOutput tried_again_after(Duration pause) {
    launcher.pass(pause - seconds(1), {&node});
    EXPECT_THAT(launcher.take<WriteOutput>(), IsEmpty());
    launcher.tick(seconds(1));
    launcher.drop_notices();
    return launcher.expect_one<WriteOutput>();
  }

  TestLauncher launcher;
  FakeNode node = launcher.join("n1");
};

TEST_F(Writing, AJobIsCompletedOnceMergedAndItsOutputsAreWrittenAfterwards) {
  OutputSpec stays;
  stays.name = "stays";
  const JobId job = run("train", {to_lake("model"), stays});
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
  const auto write = launcher.expect_one<WriteOutput>();
  EXPECT_EQ(write.output, "model");
  EXPECT_EQ(write.datastore, "lake");
  EXPECT_EQ(write.to, "azureml://datastores/lake/paths/train/model");
  EXPECT_EQ(write.tree, sha256("model"));
  EXPECT_EQ(write.user, launcher.view(job).spec.submitter);
  EXPECT_EQ(write_of(job).state, State::waiting);
  answer(write);
  EXPECT_EQ(write_of(job).state, State::written);
  EXPECT_EQ(write_of(job).at, launcher.now);
  EXPECT_EQ(launcher.view(job).writes.size(), 1U);
  launcher.pass(minutes(30), {&node});
  EXPECT_THAT(launcher.take<WriteOutput>(), IsEmpty());
}

TEST_F(Writing, AFailureIsTriedAgainAfterGrowingPauses) {
  const JobId job = run("train", {to_lake("model")});
  WriteOutput write = launcher.expect_one<WriteOutput>();
  for (int pause : {5, 10, 20, 40}) {
    answer(write, "the server is down");
    EXPECT_EQ(write_of(job).why_data, told("the server is down"));
    EXPECT_EQ(write_of(job).at, launcher.now + seconds(pause));
    write = tried_again_after(seconds(pause));
  }
  EXPECT_EQ(write_of(job).tries, 4U);
  answer(write);
  const OutputWrite done = write_of(job);
  EXPECT_EQ(done.state, State::written);
  EXPECT_EQ(done.tries, 0U);
  EXPECT_FALSE(done.why_data);
}

TEST_F(Writing, ARestartWritesAgainWhatWasBeingWrittenAndKeepsPauses) {
  const JobId job = run("train", {to_lake("a"), to_lake("b")});
  const auto writes = launcher.take<WriteOutput>();
  ASSERT_EQ(writes.size(), 2U);
  answer(writes[1], "no");
  answer(writes[0]);
  launcher.restart();
  launcher.open(node);
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).writes[1].why_data, told("no"));
  EXPECT_EQ(tried_again_after(seconds(5)).output, "b");
  launcher.restart();
  launcher.open(node);
  launcher.drop_notices();
  EXPECT_EQ(launcher.expect_one<WriteOutput>().output, "b");
}

TEST_F(Writing, OnlyTheNewestFailureIsKeptByACompaction) {
  run("train", {to_lake("model")});
  WriteOutput write = launcher.expect_one<WriteOutput>();
  for (int pause : {5, 10, 20}) {
    answer(write, "no");
    write = tried_again_after(seconds(pause));
  }
  std::size_t failures = 0;
  for (const StampedFact& fact : compact(launcher.all_facts()))
    failures += std::holds_alternative<OutputNotWritten>(fact.fact) ? 1 : 0;
  EXPECT_EQ(failures, 1U);
}

TEST_F(Writing, AfterAWeekItIsGivenUp) {
  const JobId job = run("train", {to_lake("model")});
  const auto write = launcher.expect_one<WriteOutput>();
  launcher.now = launcher.now + minutes(7 * 24 * 60) + seconds(1);
  answer(write, "the server is down");
  EXPECT_EQ(write_of(job).state, State::given_up);
  EXPECT_EQ(write_of(job).why_data, told("the server is down"));
  launcher.pass(minutes(30));
  EXPECT_THAT(launcher.take<WriteOutput>(), IsEmpty());
  EXPECT_THAT(launcher.core->state().unwritten(), IsEmpty());
}

TEST_F(Writing, AJobThatFailedWritesNothing) {
  JobSpec spec = job_spec("bad");
  spec.outputs = {to_lake("model")};
  const JobId job = launcher.submit(spec);
  launcher.drop_notices();
  end(job, 1);
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  EXPECT_THAT(launcher.take<MergeOutputs>(), IsEmpty());
}

TEST_F(Writing, ADeletedJobIsNotWrittenAgainNorIsOneOfItsName) {
  const JobId job = run("train", {to_lake("model")});
  const auto write = launcher.expect_one<WriteOutput>();
  launcher.send(DeleteInput{launcher.next_reply(), {job}, false, {}, UserCaller{"alice"}});
  ASSERT_THAT(launcher.expect_one<ReplyDeleted>().result.jobs, ElementsAre(job));
  launcher.take<ForgetJob>();
  launcher.drop_notices();
  answer(write, "no");
  JobSpec spec = job_spec("train");
  spec.outputs = {to_lake("model")};
  launcher.submit(spec);
  launcher.drop_notices();
  answer(write);
  EXPECT_THAT(launcher.facts<OutputWritten>(), IsEmpty());
  EXPECT_THAT(launcher.facts<OutputNotWritten>(), IsEmpty());
}

TEST_F(Writing, AStepBeginsBeforeTheOutputThatItReadsIsWritten) {
  JobSpec spec = job_spec("p");
  PipelineSpec pipeline;
  for (const char* name : {"a", "b"}) {
    PipelineStep step;
    step.name = name;
    step.spec.command = ShellCommand{"make"};
    step.spec.outputs = {to_lake("made")};
    pipeline.steps.push_back(step);
  }
  DataInput input;
  input.name = "from_a";
  pipeline.steps[1].spec.data = {input};
  pipeline.steps[1].bindings = {{"from_a", "a", "made"}};
  spec.pipeline = std::move(pipeline);
  launcher.submit(spec);
  launcher.drop_notices();
  end(JobId("p_a"));
  merge(JobId("p_a"));
  const auto first = launcher.expect_one<WriteOutput>();
  EXPECT_EQ(first.to, "azureml://datastores/lake/paths/p_a/made");
  end(JobId("p_b"));
  merge(JobId("p_b"));
  EXPECT_EQ(launcher.status(JobId("p")), JobStatus::completed);
  answer(launcher.expect_one<WriteOutput>());
  EXPECT_THAT(launcher.core->state().ended(), IsEmpty()) << "the pipeline stays";
  answer(first);
  EXPECT_EQ(launcher.core->state().ended().size(), 1U);
}

struct KeptWriting : Writing {
  static CoreConfig keeps() {
    CoreConfig config;
    config.keeps.jobs = 0;
    config.keeps.jobs_for = minutes(5);
    return config;
  }
  KeptWriting() : Writing(keeps()) {}
};

TEST_F(KeptWriting, RetentionWaitsUntilItIsWritten) {
  const JobId job = run("train", {to_lake("model")});
  const auto write = launcher.expect_one<WriteOutput>();
  launcher.pass(minutes(6), {&node});
  EXPECT_NE(launcher.core->state().job(job), nullptr);
  answer(write);
  EXPECT_EQ(launcher.expect_one<ForgetJob>().job, job);
  EXPECT_EQ(launcher.core->state().job(job), nullptr);
}

}  // namespace
}  // namespace lockstep::launcher
