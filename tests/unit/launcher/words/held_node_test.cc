#include "launcher/words/held_node.h"

#include <gtest/gtest.h>

namespace lockstep::words {
namespace {

TEST(HeldNode, TheHolderIsFoundInAReason) {
  const std::string reason = "waits for 1 node: 0 of them are free now (n1 " +
                             held_as_a_whole(JobId("first")) + "; n2 " +
                             held_as_a_whole(JobId("second")) + ")";
  EXPECT_NE(reason.find("(n1 is held as a whole by job 'first'; n2"), std::string::npos) << reason;
  EXPECT_EQ(help_where_held(reason),
            "wait until job 'first' ends, or cancel it: `lockstep job cancel first`; jobs that ask "
            "for --cpus and --memory share nodes");
}

TEST(HeldNode, AHolderThatIsHiddenIsNotNamed) {
  for (const char* const hidden :
       {"n1 is held as a whole by a job of another project)", "n1 is held as a whole by ",
        "n1 is held as a whole by job 'cut"}) {
    EXPECT_EQ(help_where_held(hidden),
              "wait until that job ends; jobs that ask for --cpus and --memory share nodes")
        << hidden;
  }
}

TEST(HeldNode, OtherReasonsHaveNoHolder) {
  EXPECT_EQ(help_where_held("waits for job 'first' to complete"), "");
  EXPECT_EQ(help_where_held(""), "");
}

}  // namespace
}  // namespace lockstep::words
