// Whose the names of steps and tasks are, and that jobs of others are said to be others'.

#include "launcher/core/jobs/step_names.h"

#include "common/domain/job/pipeline.h"
#include "common/grammar/job_name.h"
#include "launcher/words/why.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

PipelineStep step(const std::string& name, const std::string& reads = "") {
  PipelineStep step;
  step.name = name;
  step.spec.command = ShellCommand{"make " + name};
  step.spec.outputs = {{"made", OutputType::uri_folder, OutputMode::rw_mount}};
  if (reads.empty()) return step;
  DataInput input;
  input.name = "from";
  step.spec.data.push_back(input);
  step.bindings.push_back({input.name, reads, "made"});
  return step;
}

struct StepNames : ::testing::Test {
  TestLauncher launcher;

  // "b" waits for "a"; of an array nothing waits.
  JobSpec pipeline(const std::string& name, const std::string& user, bool is_array = false) {
    JobSpec spec = job_spec(name);
    spec.submitter = user;
    PipelineSpec whole;
    if (is_array) {
      whole.array = "0-1";
      whole.steps = {step("0"), step("1")};
      whole.steps[0].spec.array = ArrayTask{0, 2, 0, 1};
      whole.steps[1].spec.array = ArrayTask{1, 2, 0, 1};
    } else {
      whole.steps = {step("a"), step("b", "a")};
    }
    spec.pipeline = std::move(whole);
    return spec;
  }
  JobSpec of_user(const std::string& name, const std::string& user) {
    JobSpec spec = job_spec(name);
    spec.submitter = user;
    return spec;
  }
  std::vector<std::string> notes_of(JobSpec spec) {
    const std::string key = "key of " + spec.name;
    launcher.send(SubmitInput{launcher.next_reply(), key, std::move(spec), "generated"});
    std::vector<std::string> notes;
    for (const Why& why : launcher.expect_one<ReplySubmitted>().notes)
      notes.push_back(words::text_of(why));
    launcher.drop_notices();
    return notes;
  }
  std::string refused(const std::string& name, const std::string& user) {
    const Error error = launcher.submit_refused(of_user(name, user));
    EXPECT_EQ(error.code, ErrorCode::already_exists);
    return error.message;
  }
};

TEST_F(StepNames, BelongToThePipelinesOwnerBeforeTheStepBegins) {
  launcher.submit(pipeline("pipe", "alice"));
  ASSERT_EQ(launcher.core->state().job(JobId("pipe_b")), nullptr) << "it waits for a";
  EXPECT_EQ(refused("pipe_b", "bob"),
            "the name 'pipe_b' belongs to step 'b' of job 'pipe', which is another user's; choose "
            "another name");
  EXPECT_THAT(refused("pipe_b_2", "bob"), HasSubstr("belongs to step 'b'"));
  EXPECT_THAT(refused("pipe_b", "alice"), HasSubstr("which has not ended"));
  EXPECT_THAT(refused("pipe_a", "bob"), HasSubstr("exists already"));
  launcher.submit(of_user("pipe_c", "bob"));
  launcher.submit(of_user("pipe_b2", "bob"));
}

TEST_F(StepNames, StayItsOwnersWhenItHasEnded) {
  const JobId pipe = launcher.submit(pipeline("pipe", "alice"));
  launcher.cancel(pipe);
  ASSERT_TRUE(is_final(launcher.status(pipe)));
  EXPECT_THAT(refused("pipe_b", "bob"), HasSubstr("which is another user's"));
  launcher.submit(of_user("pipe_b", "alice"));
}

TEST_F(StepNames, APipelineIsRefusedWhoseStepAnotherUsersJobCouldBeTakenFor) {
  launcher.submit(of_user("alice-sweep_1", "bob"));
  const Error error = launcher.submit_refused(pipeline("alice-sweep", "alice", true));
  EXPECT_EQ(error.code, ErrorCode::already_exists);
  EXPECT_EQ(error.message,
            "the job of task '1' would be called 'alice-sweep_1', but another user has a job of "
            "this name, which could be taken for it; choose another name");
  launcher.submit(of_user("alice-pipe_b", "bob"));
  EXPECT_THAT(launcher.submit_refused(pipeline("alice-pipe", "alice")).message,
              HasSubstr("the job of step 'b' would be called 'alice-pipe_b'"));
}

TEST_F(StepNames, AnOwnJobOfTheNameIsSaid) {
  launcher.submit(of_user("pipe_b", "alice"));
  EXPECT_THAT(notes_of(pipeline("pipe", "alice")),
              Contains("the job of step 'b' gets another name than 'pipe_b', which a job of yours "
                       "has; 'pipe/b' names it"));
  EXPECT_THAT(notes_of(pipeline("other", "alice")), Each(Not(HasSubstr("another name"))));
}

TEST_F(StepNames, ALongNameIsStillTheSteps) {
  const std::string name(150, 'x'), long_step(100, 's');
  JobSpec spec = pipeline(name, "alice");
  PipelineSpec whole = *spec.pipeline;
  whole.steps[1].name = long_step;
  spec.pipeline = std::move(whole);
  launcher.submit(spec);
  const std::string of_step = base_name_of_step(name, long_step).value;
  EXPECT_LE(of_step.size(), kMaxJobNameBytes);
  EXPECT_THAT(refused(of_step, "bob"), HasSubstr("which is another user's"));
}

TEST_F(StepNames, JobsOfOthersThatAJobRefersToAreSaid) {
  launcher.submit(of_user("theirs", "bob"));
  launcher.submit(of_user("mine", "alice"));
  JobSpec spec = of_user("reads", "alice");
  for (const char* from : {"theirs", "mine"}) {
    DataInput input;
    input.name = from;
    input.source = std::string("azureml://jobs/") + from + "/outputs/model";
    input.tree = sha256(from);
    spec.data.push_back(input);
  }
  EXPECT_THAT(notes_of(spec), Contains("job 'theirs' is bob's"));
  JobSpec after = of_user("after", "alice");
  after.queue.after = {{JobId("mine"), AfterWhen::ended}, {JobId("theirs"), AfterWhen::ended}};
  const auto notes = notes_of(after);
  EXPECT_THAT(notes, Contains("job 'theirs' is bob's"));
  EXPECT_THAT(notes, Each(Not(HasSubstr("'mine'"))));
}

}  // namespace
}  // namespace lockstep::launcher
