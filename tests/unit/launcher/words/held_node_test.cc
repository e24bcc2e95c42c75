#include "launcher/words/nodes/held_node.h"

#include <gtest/gtest.h>

#include "common/domain/why/all/redact.h"
#include "common/domain/why/jobs/waits.h"
#include "common/domain/why/nodes/fit.h"
#include "common/domain/why/nodes/placement.h"

namespace lockstep::words {
namespace {

// A job that waits for a node, on which another one is.
Why held_by(const JobId& holder) {
  return WaitsBehindJob{JobId("pair"), WaitsAtHead{NodePassedOver{"n1", HeldAsAWhole{holder}},
                                                   {{}, JobHasNoLimit{holder}}}};
}

TEST(HeldNode, TheHolderIsFoundInAReason) {
  EXPECT_EQ(held_as_a_whole(JobId("first")), "is held as a whole by job 'first'");
  EXPECT_EQ(help_where_held(held_by(JobId("first"))),
            "wait until job 'first' ends, or cancel it: `lockstep job cancel first`; jobs that ask "
            "for --cpus and --memory (lockstep.resources in a job file) share nodes");
}

TEST(HeldNode, AHolderThatIsHiddenIsNotNamed) {
  for (const HiddenJob as : {HiddenJob::of_another_project, HiddenJob::any})
    EXPECT_EQ(help_where_held(held_by(hidden(as))),
              "wait until that job ends; jobs that ask for --cpus and --memory (lockstep.resources "
              "in a job file) share nodes");
  EXPECT_EQ(held_as_a_whole(hidden(HiddenJob::any)), "is held as a whole by another job");
}

TEST(HeldNode, OtherReasonsHaveNoHolder) {
  EXPECT_EQ(help_where_held(WaitsForJobs{JobId("first"), AfterWhen::completed, 0}), "");
  EXPECT_EQ(help_where_held(told("n1 is held as a whole by job 'first'")), "");
  EXPECT_EQ(help_where_held(Why()), "");
}

}  // namespace
}  // namespace lockstep::words
