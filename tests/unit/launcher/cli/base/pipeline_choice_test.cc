// Which jobs, logs and files of a pipeline are meant by a command line.

#include <gtest/gtest.h>

#include "common/domain/job/array.h"
#include "common/domain/job/pipeline.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/follow/log_selection.h"
#include "launcher/cli/job/filter.h"
#include "launcher/cli/verbs/look/pipeline_download.h"
#include "launcher/cli/verbs/submit/pipeline_resume.h"
#include "tests/unit/launcher/cli/pipeline_samples.h"

namespace lockstep::cli {
namespace {

TEST(JobOfStep, IsItsOwnOrTheOneThatItIsReusedFrom) {
  const JobView job = sample_pipeline();
  EXPECT_EQ(job_of_step("job logs", job, "nested.train").value(), JobId("p_nested_train"));
  EXPECT_EQ(job_of_step("job logs", job, "prepare").value(), JobId("old_prepare"));
  EXPECT_EQ(job_of_step("job logs", job, "nested.score").error().message,
            "job logs: step 'nested.score' of p has no job: waits for nested.train");
  EXPECT_EQ(job_of_step("job logs", job, "train").error().message,
            "job logs: p has no step 'train'; its steps: prepare, nested.train, nested.score, "
            "check, publish");
  EXPECT_EQ(job_of_step("job logs", sample_job(), "train").error().message,
            "job logs: gray_pig is not a pipeline, so it has no step 'train'");
}

TEST(JobOfStep, SaysWhoseAReusedStepsFilesAre) {
  const JobView job = sample_pipeline();
  EXPECT_EQ(reused_text(job.steps[0], "log this is"),
            "step 'prepare' was reused from job old_prepare, whose log this is");
  EXPECT_EQ(reused_text(job.steps[1], "log this is"), "");
}

TEST(JobOfStep, OfAReusedStepNoVerbChangesTheOtherJob) {
  const JobView job = sample_pipeline();
  EXPECT_EQ(own_job_of_step("job update", job, "nested.train").value(), JobId("p_nested_train"));
  const auto reused = own_job_of_step("job update", job, "prepare");
  ASSERT_FALSE(reused);
  EXPECT_EQ(reused.error().code, ErrorCode::conflict);
  EXPECT_EQ(reused.error().message,
            "job update: step 'prepare' was reused from job old_prepare; to change that one, name "
            "it");
  EXPECT_EQ(own_job_of_step("job update", job, "train").error().message,
            job_of_step("job update", job, "train").error().message);
}

TEST(ResumedJob, NeitherItNorATaskOfItsArrayWaits) {
  JobSpec task;
  task.queue.after = {{JobId("prep"), AfterWhen::completed}};
  task.queue.not_before = kNoon;
  task.queue.priority = Priority::low;
  JobSpec array = as_array(task, array_from("0-2").value());
  wait_for_nothing(array);
  ASSERT_EQ(array.pipeline->steps.size(), 3u);
  for (const PipelineStep& step : array.pipeline->steps) {
    EXPECT_TRUE(step.spec.queue.after.empty()) << step.name;
    EXPECT_EQ(step.spec.queue.not_before, Instant{}) << step.name;
    EXPECT_EQ(step.spec.queue.priority, Priority::low) << step.name;
  }
  wait_for_nothing(task);
  EXPECT_TRUE(task.queue.after.empty());
  EXPECT_EQ(task.queue.not_before, Instant{});
}

TEST(SelectionOfAPipeline, RanksAndNodesNeedAStep) {
  FollowOptions follow;
  LogSelection selection;
  selection.tail = 5;
  selection.only_err = true;
  EXPECT_TRUE(apply(selection, "job logs", sample_pipeline().spec, kNoon, &follow));
  EXPECT_EQ(follow.filter.tail_lines, 5);
  EXPECT_EQ(follow.filter.stream, LogStream::err);
  selection.rank = 0;
  const Status refused = apply(selection, "job logs", sample_pipeline().spec, kNoon, &follow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "job logs: --rank is about the job of one step: add --step STEP (`lockstep job show p` "
            "lists the steps)");
}

TEST(DownloadOfAPipeline, TakesItsMergedOutputs) {
  JobView job = sample_pipeline();
  const auto none = plan_pipeline_download(job, "model");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "output 'model' of pipeline p is not there yet: a pipeline has its outputs when it has "
            "ended");
  job.merged = {{"model", sha256("tree"), "", {}}, {"empty", std::nullopt, "", {}}};
  const auto plan = plan_pipeline_download(job, std::nullopt);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->trees.size(), 1u);
  EXPECT_EQ(plan->trees[0].to.path, "named-outputs/model");
  EXPECT_EQ(plan->trees[0].from, (std::vector<NodeTree>{{0, sha256("tree")}}));
  const auto wrong = plan_pipeline_download(job, "weights");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "pipeline p has no output 'weights'; it has model");
}

TEST(FilterOfJobs, NamesAPipeline) {
  JobFilterWords words;
  words.parent = "p";
  EXPECT_EQ(read_job_filter(words, kNoon).value().parent, JobId("p"));
}

}  // namespace
}  // namespace lockstep::cli
