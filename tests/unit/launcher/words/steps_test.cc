// What the golden file does not show: sentences that differ with what a reason has.

#include "launcher/words/jobs/say_steps.h"

#include <gtest/gtest.h>

#include "common/domain/why/jobs/steps.h"
#include "launcher/words/why.h"

namespace lockstep::words {
namespace {

TEST(StepWords, CountTheStepsOfAPipeline) {
  EXPECT_EQ(text_of(WaitsForSteps{2, 1, 3, ""}), "2 steps run, 1 step is queued, 3 steps wait");
  EXPECT_EQ(text_of(WaitsForSteps{1, 0, 1, "a"}), "1 step runs, 1 step waits; step 'a' failed");
  EXPECT_EQ(text_of(WaitsForStepsToStop{1}), "waits for 1 step to stop");
  EXPECT_EQ(text_of(WaitsForStep{"a", 0}), "waits for a");
  EXPECT_EQ(text_of(WaitsForStep{"a", 1}), "waits for a and 1 more step");
  EXPECT_EQ(text_of(TooManyStepsRun{2}), "waits until fewer than 2 steps run");
}

TEST(StepWords, NameTheFirstFailureToo) {
  const StepLink link{"made", "from_a"};
  EXPECT_EQ(text_of(NeedsFailedStep{"a", link}),
            "step 'a' failed, whose output 'made' is its input 'from_a'");
  EXPECT_EQ(text_of(NeedsFailedStep{"a", {}}), "step 'a' failed");
  EXPECT_EQ(text_of(NeedsSkippedStep{"b", link, "a", {}}),
            "step 'b' was not run, whose output 'made' is its input 'from_a', because step 'a' "
            "failed");
  EXPECT_EQ(text_of(NeedsSkippedStep{"b", link, "a", PipelineWasCanceled{}}),
            "step 'b' was not run, whose output 'made' is its input 'from_a', because step 'a' was "
            "not run: the pipeline was canceled");
  EXPECT_EQ(text_of(NeedsSkippedStep{"b", {}, "", PipelineWasCanceled{}}),
            "step 'b' was not run: the pipeline was canceled");
}

}  // namespace
}  // namespace lockstep::words
